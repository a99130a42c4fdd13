import { idOf, never, type RecordedEvent, sensitive } from '@app/kernel';
import { EVERYBODY, type MemoryEvent, memoryKind, memoryOrigin, memorySource } from '@app/memory';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A memory, or a proposal; the text may be erased. */
export const memoryRow = z.object({
  id: z.string(),
  agentId: z.string(),
  spaceId: z.string(),
  userId: z.string(),
  /** Its user's id, or `EVERYBODY`. */
  audience: z.string(),
  kind: memoryKind,
  status: z.enum(['proposed', 'saved']),
  text: sensitive(z.string()),
  hash: z.string(),
  origin: memoryOrigin,
  source: memorySource.nullable(),
  conversationId: z.string().nullable(),
  /** Of a proposal: the memory that it is to take the place of. */
  replaces: z.string().nullable(),
  screening: z.object({ version: z.string().describe('The version of the screener.') }),
  expiresAt: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type MemoryRow = z.output<typeof memoryRow>;

/** Memories until they are deleted, and proposals until they are chosen. A policy deletes those of a deleted Agent, Space or user one by one. */
export const memories: RowProjection = {
  kind: 'rows',
  name: 'memories',
  version: 2,
  perStream: true,
  types: [
    'MemoryProposed',
    'MemorySaved',
    'MemoryConfirmed',
    'MemorySavedForMe',
    'MemoryDiscarded',
    'MemoryEdited',
    'MemoryEditAbandoned',
    'MemoryFlagged',
    'MemoryDeleted',
  ],
  row: memoryRow,
  indexes: [
    {
      name: 'newest-for-audience',
      fields: [{ field: 'audience' }, { field: 'agentId' }, { field: 'createdAt', order: 'desc' }],
    },
    { name: 'newest-of-audience', fields: [{ field: 'audience' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-user', fields: [{ field: 'userId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-conversation', fields: [{ field: 'conversationId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'first-to-lapse', fields: [{ field: 'status' }, { field: 'expiresAt' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<MemoryEvent>;
    const { stream, recordedAt, revision } = event.context;
    const key = idOf(stream);
    const saved = { status: 'saved', expiresAt: null, replaces: null, updatedAt: recordedAt, revision } as const;
    switch (event.type) {
      case 'MemoryProposed':
      case 'MemorySaved': {
        const { memoryId: _, ...data } = event.data;
        const isSaved = event.type === 'MemorySaved';
        const row = {
          id: key,
          expiresAt: null,
          ...data,
          audience: data.userId,
          status: isSaved ? 'saved' : 'proposed',
          replaces: isSaved ? null : data.replaces,
          conversationId: data.source?.conversationId ?? null,
          createdAt: recordedAt,
          updatedAt: recordedAt,
          revision,
        };
        return [{ op: 'put', key, row }];
      }
      case 'MemoryConfirmed': {
        const { screening, kind } = event.data;
        const audience = kind === 'shared' ? { audience: EVERYBODY } : {};
        return [{ op: 'patch', key, fields: { ...saved, ...audience, screening } }];
      }
      case 'MemorySavedForMe': {
        const { hash, screening } = event.data;
        return [{ op: 'patch', key, fields: { ...saved, kind: 'personal', hash, screening } }];
      }
      case 'MemoryEdited':
        return [{ op: 'patch', key, fields: { ...event.data, updatedAt: recordedAt, revision } }];
      case 'MemoryEditAbandoned':
        return [{ op: 'patch', key, fields: { revision } }];
      case 'MemoryFlagged':
        return event.data.during === 'edit' ? [{ op: 'patch', key, fields: { revision } }] : [{ op: 'remove', key }];
      case 'MemoryDiscarded':
      case 'MemoryDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
