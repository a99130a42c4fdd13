import { categoryOf, chunkingSchema, givenFields, idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { spaceEvents, type SpaceEvent } from '@app/spaces';
import { z } from 'zod';

/** A Space without what depends on the caller (`role`). Name, slug and description may be erased. */
export const spaceRow = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  color: z.string(),
  chunking: chunkingSchema.nullable(),
  kind: z.enum(['team', 'personal']),
  memberCount: z.number().int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type SpaceRow = z.output<typeof spaceRow>;

/** Spaces until they are deleted. */
export const spaces: RowProjection = {
  kind: 'rows',
  name: 'spaces',
  version: 2,
  perStream: true,
  types: [...spaceEvents.map(({ type }) => type), 'ClaimForfeited'],
  row: spaceRow,
  indexes: [{ name: 'newest-of-kind', fields: [{ field: 'kind' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<SpaceEvent>;
    const { stream, revision, recordedAt } = event.context;
    const key = idOf(stream);
    switch (event.type) {
      case 'SpaceCreated': {
        const { name, slug, description, color, kind, chunking = null } = event.data;
        return [
          {
            op: 'put',
            key,
            row: {
              id: key,
              name,
              slug,
              description,
              color,
              chunking,
              kind,
              memberCount: 1,
              createdAt: recordedAt,
              updatedAt: recordedAt,
              revision,
            },
          },
        ];
      }
      case 'SpaceChanged': {
        const { nameClaim: _, slugClaim: __, released: ___, ...fields } = event.data;
        return [{ op: 'patch', key, fields: { ...givenFields(fields), updatedAt: recordedAt, revision } }];
      }
      case 'SpaceMemberAdded':
      case 'SpaceMemberRemoved':
        return [{ op: 'patch', key, fields: { memberCount: event.data.memberCount, updatedAt: recordedAt, revision } }];
      case 'SpaceMemberRoleChanged':
        return [{ op: 'patch', key, fields: { updatedAt: recordedAt, revision } }];
      case 'ClaimForfeited':
        // Users and Skills forfeit claims too. Nothing of it is shown but the revision, which `If-Match` means.
        return categoryOf(stream) === 'space' ? [{ op: 'patch', key, fields: { revision } }] : [];
      case 'SpaceDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
