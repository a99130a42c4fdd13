import { givenFields, idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { PromptEvent } from '@app/spaces';
import { z } from 'zod';

/** A prompt of a library; title, text and tags may be erased. */
export const promptRow = z.object({
  id: z.string(),
  spaceId: z.string(),
  title: z.string(),
  text: z.string(),
  tags: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type PromptRow = z.output<typeof promptRow>;

/** Prompts of Spaces until they are deleted. A policy finds the prompts of a deleted Space here and deletes them. */
export const prompts: RowProjection = {
  kind: 'rows',
  name: 'prompts',
  version: 1,
  perStream: true,
  types: ['PromptAdded', 'PromptChanged', 'PromptDeleted'],
  row: promptRow,
  indexes: [{ name: 'newest-of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<PromptEvent>;
    const { stream, revision, recordedAt } = event.context;
    const key = idOf(stream);
    switch (event.type) {
      case 'PromptAdded':
        return [
          { op: 'put', key, row: { id: key, ...event.data, createdAt: recordedAt, updatedAt: recordedAt, revision } },
        ];
      case 'PromptChanged':
        return [{ op: 'patch', key, fields: { ...givenFields(event.data), updatedAt: recordedAt, revision } }];
      case 'PromptDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
