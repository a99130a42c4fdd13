import { agentConfig, type AgentEvent, rowOfTool, toolRow } from '@app/agents';
import { givenFields, idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** An Agent; name, description and system prompt may be erased. */
export const agentRow = agentConfig
  .extend({
    id: z.string(),
    spaceId: z.string(),
    tools: z.array(toolRow),
    isPersonal: z.boolean(),
    createdAt: z.string(),
    updatedAt: z.string(),
    revision: z.number().int(),
  })
  .strip();
export type AgentRow = z.output<typeof agentRow>;

/** Agents until they are deleted. A policy finds the Agents of a deleted Space here and deletes them. */
export const agents: RowProjection = {
  kind: 'rows',
  name: 'agents',
  version: 2,
  perStream: true,
  types: ['AgentCreated', 'AgentChanged', 'AgentDeleted'],
  row: agentRow,
  indexes: [{ name: 'newest-of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<AgentEvent>;
    const { stream, revision, recordedAt } = event.context;
    const key = idOf(stream);
    switch (event.type) {
      case 'AgentCreated': {
        const { agentId: _, automatic: __, ownerId: ___, ...fields } = event.data;
        return [
          {
            op: 'put',
            key,
            row: {
              id: key,
              ...fields,
              tools: fields.tools.map(rowOfTool),
              chunking: fields.chunking ?? null,
              createdAt: recordedAt,
              updatedAt: recordedAt,
              revision,
            },
          },
        ];
      }
      case 'AgentChanged': {
        const { restoredFrom: _, tools, ...fields } = event.data;
        const shown = tools === undefined ? {} : { tools: tools.map(rowOfTool) };
        return [{ op: 'patch', key, fields: { ...givenFields(fields), ...shown, updatedAt: recordedAt, revision } }];
      }
      case 'AgentDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
