import { idOf, never, type RecordedEvent, sensitive } from '@app/kernel';
import type { DocumentEvent, TagEvent } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import type { Operation } from '@app/read-store';
import { z } from 'zod';

/** A tag of a Space with the number of documents that carry it. */
export const tagRow = z.object({
  id: z.string(),
  spaceId: z.string(),
  name: sensitive(z.string()),
  color: z.string(),
  documentCount: z.number().int(),
  createdAt: z.string(),
  /** Of the Space's tags together: they share one stream. */
  revision: z.number().int(),
});
export type TagRow = z.output<typeof tagRow>;

type Tagging = Extract<DocumentEvent, { type: 'DocumentAdded' | 'DocumentTagsChanged' | 'DocumentDeleted' }>;
type SpaceDeleted = { readonly type: 'SpaceDeleted'; readonly data: Record<string, unknown> };

/** Tags until they or their Space are deleted. */
export const tags: RowProjection = {
  kind: 'rows',
  name: 'tags',
  version: 1,
  types: [
    'TagCreated',
    'TagUpdated',
    'TagDeleted',
    'DocumentAdded',
    'DocumentTagsChanged',
    'DocumentDeleted',
    'SpaceDeleted',
  ],
  row: tagRow,
  indexes: [{ name: 'newest-of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<TagEvent> | RecordedEvent<Tagging> | RecordedEvent<SpaceDeleted>;
    const { stream, recordedAt, revision } = event.context;
    switch (event.type) {
      case 'TagCreated': {
        const { tagId: id, ...data } = event.data;
        return [{ op: 'put', key: id, row: { id, ...data, documentCount: 0, createdAt: recordedAt, revision } }];
      }
      case 'TagUpdated':
        return [
          { op: 'patch', key: event.data.tagId, fields: { name: event.data.name, color: event.data.color, revision } },
        ];
      case 'TagDeleted':
        return [{ op: 'remove', key: event.data.tagId }];
      case 'DocumentAdded':
        return counted(event.data.tagIds, 1);
      case 'DocumentTagsChanged':
        return [...counted(event.data.attached, 1), ...counted(event.data.detached, -1)];
      case 'DocumentDeleted':
        return counted(event.data.tagIds, -1);
      case 'SpaceDeleted':
        return [{ op: 'removeWhere', where: { spaceId: idOf(stream) } }];
      default:
        return never(event);
    }
  },
};

const counted = (tagIds: readonly string[], by: number): readonly Operation[] =>
  tagIds.map((key) => ({ op: 'increment', key, field: 'documentCount', by }));
