import { categoryOf, idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { type SkillEvent, skillScope, skillSource } from '@app/skills';
import { z } from 'zod';

/** A Skill; name, slug and descriptions may be erased. */
export const skillRow = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  scope: skillScope,
  spaceId: z.string(),
  agentId: z.string().nullable(),
  /** `a:<agentId>` or `s:<spaceId>`: where it is available. */
  place: z.string(),
  source: skillSource,
  provider: z.string(),
  sourceId: z.string().nullable(),
  creatorType: z.enum(['PLATFORM', 'USER']),
  creatorId: z.string().nullable(),
  status: z.enum(['draft', 'published', 'archived']),
  activeVersionId: z.string().nullable(),
  /** Of the version that is live; null before the first. */
  description: z.string().nullable(),
  /** Of the draft, if it was given there; null: as what is live. */
  draftDescription: z.string().nullable(),
  hasDraft: z.boolean(),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.number().int(),
});
export type SkillRow = z.output<typeof skillRow>;

/** Where a Skill stands, as `place` of its row. */
export const placeOfSkills = (of: { readonly agentId: string } | { readonly spaceId: string }): string =>
  'agentId' in of ? `a:${of.agentId}` : `s:${of.spaceId}`;

/** Skills until they are deleted. A policy finds those of a deleted Agent or Space here and deletes them. */
export const skills: RowProjection = {
  kind: 'rows',
  name: 'skills',
  version: 2,
  perStream: true,
  types: [
    'SkillCreated',
    'SkillRenamed',
    'SkillDraftSaved',
    'SkillDraftDiscarded',
    'SkillPublished',
    'SkillVersionActivated',
    'SkillDeleted',
    'ClaimForfeited',
  ],
  row: skillRow,
  indexes: [
    { name: 'newest-of-place', fields: [{ field: 'place' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'createdAt', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const { stream, revision, recordedAt } = recorded.context;
    const key = idOf(stream);
    // Spaces, users and installations forfeit claims too. Nothing of it is shown but the revision, which `If-Match` means.
    if (recorded.type === 'ClaimForfeited')
      return categoryOf(stream) === 'skill' ? [{ op: 'patch', key, fields: { revision } }] : [];
    const event = recorded as RecordedEvent<SkillEvent>;
    if (event.type === 'SkillCreated') {
      const { ticket: _, ...data } = event.data;
      const row = { id: key, ...data, place: placeOf(data), ...NOTHING_YET };
      return [{ op: 'put', key, row: { ...row, createdAt: recordedAt, updatedAt: recordedAt, revision } }];
    }
    if (event.type === 'SkillDeleted') return [{ op: 'remove', key }];
    return [{ op: 'patch', key, fields: { ...changed(event), updatedAt: recordedAt, revision } }];
  },
};

const NOTHING_YET = {
  status: 'draft',
  activeVersionId: null,
  description: null,
  draftDescription: null,
  hasDraft: false,
} as const;

const placeOf = ({ agentId, spaceId }: Pick<SkillRow, 'agentId' | 'spaceId'>): string =>
  placeOfSkills(agentId === null ? { spaceId } : { agentId });

const changed = (event: RecordedEvent<Exclude<SkillEvent, { type: 'SkillCreated' | 'SkillDeleted' }>>) => {
  switch (event.type) {
    case 'SkillRenamed':
      return { name: event.data.name };
    case 'SkillDraftSaved': {
      const { description } = event.data;
      return { hasDraft: true, ...(description === undefined ? {} : { draftDescription: description }) };
    }
    case 'SkillDraftDiscarded':
      return { hasDraft: false, draftDescription: null };
    case 'SkillPublished': {
      const { versionId: activeVersionId, description } = event.data;
      return { status: 'published' as const, activeVersionId, description, hasDraft: false, draftDescription: null };
    }
    case 'SkillVersionActivated':
      return { activeVersionId: event.data.versionId, description: event.data.description };
    default:
      return never(event);
  }
};
