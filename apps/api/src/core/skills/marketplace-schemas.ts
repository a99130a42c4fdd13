import { exposed, listQuery, presenter } from '@app/http';
import { entryRow } from '@projections/skill-entries';
import { installationRow } from '@projections/skill-installations';
import { z } from 'zod';
import { hasNoOther, hasPlace, NEEDED, NO_OTHER, placed } from './skills-schemas';

export const listing = z.strictObject({
  skillId: z.uuid().describe('A Skill that you can edit. Its live version is copied.'),
  acceptFindings: z.boolean().default(false).describe('List it even though screening found something in it.'),
});

export const newInstallation = z
  .strictObject({
    ...placed,
    versionId: z.uuid().optional().describe('The version to pin. By default, follows new versions.'),
  })
  .refine(hasNoOther, NO_OTHER)
  .refine(hasPlace, NEEDED);

export const entriesQuery = listQuery({
  status: z
    .enum(['published', 'archived'])
    .default('published')
    .describe('Its state. Only users who can archive Skills see archived ones.'),
  q: z.string().min(1).max(200).optional().describe('Text in the name, slug or description, ignoring case.'),
});

/** What is so of each entry: a Skill as others are, but of no place. */
const OF_ALL = {
  scope: null,
  spaceId: null,
  agentId: null,
  source: 'MARKETPLACE',
  provider: 'marketplace',
  creatorType: 'USER',
  hasDraft: false,
} as const;

export const entryView = presenter(
  'MarketplaceSkill',
  exposed(
    entryRow.extend({
      scope: z.null(),
      spaceId: z.null(),
      agentId: z.null(),
      source: z.literal(OF_ALL.source),
      provider: z.literal(OF_ALL.provider),
      creatorType: z.literal(OF_ALL.creatorType),
      hasDraft: z.literal(OF_ALL.hasDraft),
    }),
    {
      id: true,
      name: 'Its name.',
      slug: 'Its slug in the Agent Skills format.',
      description: 'When an Agent should use it.',
      scope: 'Null: an entry is available nowhere before it is installed.',
      spaceId: 'Null: it is in no Space.',
      agentId: 'Null: it is of no Agent.',
      source: 'How it was created.',
      provider: 'What made it.',
      sourceId: 'The Skill that it is a copy of. That Skill can be deleted.',
      creatorType: 'Who made it.',
      creatorId: 'The user who listed it first.',
      status: 'Whether it is listed, or archived.',
      activeVersionId: 'Its newest version, used by installations without a pinned version.',
      hasDraft: 'False: an entry has no draft.',
      createdAt: true,
      updatedAt: true,
      revision: true,
    },
  ),
  (row: z.output<typeof entryRow>) => ({ ...row, ...OF_ALL }),
);

export const installationView = presenter(
  'SkillInstallation',
  exposed(installationRow.extend({ skillId: z.string() }).omit({ entryId: true }), {
    id: true,
    skillId: 'The entry of the marketplace.',
    versionId: 'The pinned version; null for the newest.',
    scope: 'For a Space, with all its Agents, or for one Agent.',
    spaceId: 'Its Space.',
    agentId: 'Its Agent; null for all Agents of the Space.',
    installedBy: 'The user who installed it.',
    createdAt: true,
    revision: true,
  }),
  ({ entryId: skillId, ...row }: z.output<typeof installationRow>) => ({ ...row, skillId }),
);
