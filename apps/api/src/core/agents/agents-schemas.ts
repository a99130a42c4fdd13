import { agentUpdate, agentConfig, shownTool } from '@app/agents';
import { exposed, type JsonText, listQuery, type Presenter, presenter } from '@app/http';
import type { Row } from '@app/read-store';
import { type AgentRow, agentRow } from '@projections/agents';
import { type AgentVersionRow, agentVersionRow } from '@projections/agent-versions';
import { z } from 'zod';
import { markedTools, withDocuments, withoutDocuments } from './tool-documents';

export const newAgent = agentUpdate.extend({
  name: agentConfig.shape.name,
  spaceId: z.uuid().optional().describe("The Space to create it in. By default, the caller's personal Space."),
});
export { agentUpdate };
export const promptUpdate = agentConfig.pick({ systemPrompt: true });

export const agentsQuery = listQuery({ spaceId: z.uuid().optional().describe('Only Agents of this Space.') });
export const versionsQuery = listQuery({});

const agentParts = presenter<AgentRow>(
  'Agent',
  agentConfig.strip().extend({
    tools: z.array(shownTool).describe('Its tools.'),
    ...exposed(agentRow, {
      id: true,
      spaceId: 'The Space it belongs to.',
      isPersonal: 'Whether it is private to its owner.',
      createdAt: true,
      updatedAt: true,
      revision: true,
    }).shape,
  }),
  (row) => ({ ...row, tools: markedTools(row.tools) }),
);
export const agentView = inFull(agentParts, ({ tools }) => tools);
const changes = agentVersionRow.shape.changes.extend({
  tools: z.array(shownTool).optional().describe('Its tools.'),
});
const versionParts = presenter(
  'AgentVersion',
  exposed(agentVersionRow.extend({ changes }), {
    revision: 'The revision of the Agent after the change.',
    createdAt: 'When it was changed, ISO 8601 in UTC.',
    actor: 'Who changed it.',
    restoredFrom: 'The revision that was restored, or null.',
    changes: 'The configuration: all of it in the first version, then only what changed.',
  }),
  (row: Row) => {
    const { tools, ...others } = row['changes'] as AgentVersionRow['changes'];
    return { ...row, changes: { ...others, ...(tools === undefined ? {} : { tools: markedTools(tools) }) } };
  },
);
export const versionView = inFull(versionParts, (row) => (row['changes'] as AgentVersionRow['changes']).tools);

/** Presents an object with the documents of its tools; `inList` without them. */
function inFull<Source extends object>(
  present: Presenter<Source>,
  toolsOf: (source: Source) => Parameters<typeof withDocuments>[1],
) {
  return Object.assign((source: Source): JsonText => withDocuments(present(source), toolsOf(source)), {
    schema: present.schema,
    inList: (source: Source): JsonText => withoutDocuments(present(source), toolsOf(source)),
  });
}
