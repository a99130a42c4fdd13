import { exposed, listQuery, presenter } from '@app/http';
import { entryRow } from '@projections/skill-entries';
import { installationRow } from '@projections/skill-installations';
import { z } from 'zod';
import { hasNoOther, hasPlace, NEEDED, NO_OTHER, placed } from './skills-schemas';

export const listing = z.strictObject({
  skillId: z.uuid().describe('A Skill that you may change. Its live version is copied.'),
  acceptFindings: z.boolean().default(false).describe('List it although screening found something in it.'),
});

export const newInstallation = z
  .strictObject({
    ...placed,
    versionId: z.uuid().optional().describe('Stay with this version. Default: follow new ones.'),
  })
  .refine(hasNoOther, NO_OTHER)
  .refine(hasPlace, NEEDED);

export const entriesQuery = listQuery({
  status: z
    .enum(['published', 'archived'])
    .default('published')
    .describe('Its state. The archived are for those who may archive.'),
  q: z.string().min(1).max(200).optional().describe('Text that name or description contains, whatever its case.'),
});

export const entryView = presenter(
  'MarketplaceSkill',
  exposed(entryRow.extend({ source: z.literal('MARKETPLACE') }), {
    id: true,
    name: 'Its name.',
    slug: 'Its name in the grammar of the Agent Skills format.',
    description: 'When an Agent is to use it.',
    source: 'How it came here.',
    sourceId: 'The Skill that it is a copy of, which may be deleted.',
    creatorId: 'The user who listed it first.',
    status: 'Whether it is listed, or archived.',
    activeVersionId: 'Its newest version, which installations have that pin none.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }),
  (row: z.output<typeof entryRow>) => ({ ...row, source: 'MARKETPLACE' as const }),
);

export const installationView = presenter(
  'SkillInstallation',
  exposed(installationRow.extend({ skillId: z.string() }).omit({ entryId: true }), {
    id: true,
    skillId: 'The entry of the marketplace.',
    versionId: 'The version that it stays with; null: the newest.',
    scope: 'Whether it is for a Space, with all its Agents, or for one Agent.',
    spaceId: 'Its Space.',
    agentId: 'Its Agent; null: all of the Space.',
    installedBy: 'The user who installed it.',
    createdAt: true,
    revision: true,
  }),
  ({ entryId: skillId, ...row }: z.output<typeof installationRow>) => ({ ...row, skillId }),
);
