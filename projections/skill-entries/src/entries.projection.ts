import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { EntryEvent } from '@app/skills';
import { z } from 'zod';

/** An entry of the marketplace, as its newest version says. */
export const entryRow = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: z.string(),
  sourceId: z.string(),
  creatorId: z.string(),
  status: z.enum(['published', 'archived']),
  activeVersionId: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type EntryRow = z.output<typeof entryRow>;

/** Entries of the marketplace, for ever; those of the operator's folder are not in it. */
export const skillEntries: RowProjection = {
  kind: 'rows',
  name: 'skill-entries',
  version: 1,
  perStream: true,
  types: ['SkillListed', 'SkillArchived', 'SkillRestored'],
  row: entryRow,
  indexes: [{ name: 'newest-of-status', fields: [{ field: 'status' }, { field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<EntryEvent>;
    const { stream, revision, recordedAt: updatedAt } = event.context;
    const key = idOf(stream);
    if (event.type !== 'SkillListed') {
      const status = event.type === 'SkillArchived' ? 'archived' : 'published';
      return [{ op: 'patch', key, fields: { status, updatedAt, revision } }];
    }
    const { name, slug, description, sourceId, listedBy: creatorId, versionId: activeVersionId } = event.data;
    // Of the operator's folder.
    if (sourceId === null) return [];
    const now = { description, activeVersionId, updatedAt, revision };
    if (event.data.number > 1) return [{ op: 'patch', key, fields: now }];
    const row = { id: key, name, slug, sourceId, creatorId, status: 'published', createdAt: updatedAt, ...now };
    return [{ op: 'put', key, row }];
  },
};
