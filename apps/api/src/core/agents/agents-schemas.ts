import { agentChange, agentConfig } from '@app/agents';
import { exposed, listQuery, presenter } from '@app/http';
import { type AgentRow, agentRow } from '@projections/agents';
import { agentVersionRow } from '@projections/agent-versions';
import { z } from 'zod';

export const newAgent = agentChange.extend({
  name: agentConfig.shape.name,
  spaceId: z.uuid().optional().describe("The Space that it is created in; the caller's personal one by default."),
});
export { agentChange };
export const promptChange = agentConfig.pick({ systemPrompt: true });

export const agentsQuery = listQuery({ spaceId: z.uuid().optional().describe('Only Agents of this Space.') });
export const versionsQuery = listQuery({});

export const agentView = presenter<AgentRow>(
  'Agent',
  agentConfig.strip().extend(
    exposed(agentRow, {
      id: true,
      spaceId: 'The Space that it belongs to.',
      isPersonal: "Whether it is its owner's alone.",
      createdAt: true,
      updatedAt: true,
      revision: true,
    }).shape,
  ),
);
export const versionView = presenter(
  'AgentVersion',
  exposed(agentVersionRow, {
    revision: 'The revision of the Agent that the change made.',
    createdAt: 'When it was changed, ISO 8601 in UTC.',
    actor: 'Who changed it.',
    restoredFrom: 'The revision that was brought back, or null.',
    changes: 'What was configured: all by the first version, afterwards what changed.',
  }),
);
