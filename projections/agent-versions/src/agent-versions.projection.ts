import { agentConfig, type AgentEvent, rowOfTool, type StoredConfig, toolRow } from '@app/agents';
import { givenFields, idOf, type Json, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** What one revision did to the configuration of an Agent. */
export const agentVersionRow = z.object({
  agentId: z.string(),
  revision: z.number().int(),
  createdAt: z.string(),
  actor: z.string(),
  /** The revision that this one brought back. */
  restoredFrom: z.number().int().nullable(),
  /** The fields that it set, with their values; what people wrote may be erased. */
  changes: agentConfig.extend({ tools: z.array(toolRow) }).partial(),
});
export type AgentVersionRow = z.output<typeof agentVersionRow>;

/** The key of the row of a version. */
export const versionKey = (agentId: string, revision: number | string): string => `${agentId}/${revision}`;

/** Every configuration that an Agent had, until it is deleted. */
export const agentVersions: RowProjection = {
  kind: 'rows',
  name: 'agent-versions',
  version: 1,
  perStream: true,
  types: ['AgentCreated', 'AgentChanged', 'AgentDeleted'],
  row: agentVersionRow,
  indexes: [{ name: 'newest-of-agent', fields: [{ field: 'agentId' }, { field: 'revision', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<AgentEvent>;
    const { stream, revision, recordedAt, actor } = event.context;
    const agentId = idOf(stream);
    const put = (restoredFrom: number | null, changes: Json) =>
      [
        {
          op: 'put',
          key: versionKey(agentId, revision),
          row: { agentId, revision, createdAt: recordedAt, actor, restoredFrom, changes },
        },
      ] as const;
    switch (event.type) {
      case 'AgentCreated': {
        const { agentId: _, spaceId: __, isPersonal: ___, automatic: ____, ownerId: _____, ...changes } = event.data;
        return put(null, changed(changes));
      }
      case 'AgentChanged': {
        const { restoredFrom = null, ...changes } = event.data;
        return put(restoredFrom, changed(changes));
      }
      case 'AgentDeleted':
        return [{ op: 'removeWhere', where: { agentId } }];
      default:
        return never(event);
    }
  },
};

const changed = ({ tools, ...fields }: { readonly tools?: StoredConfig['tools'] | undefined }): Json =>
  ({ ...givenFields(fields), ...(tools === undefined ? {} : { tools: tools.map(rowOfTool) }) }) as Json;
