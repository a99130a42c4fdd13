import { exposed, flagText, jsonValue, listQuery, presenter, withFile } from '@app/http';
import { isErased, nameSchema, revealed, textSchema } from '@app/kernel';
import {
  filesOf,
  hashOf,
  keyOf,
  MAX_DESCRIPTION,
  MAX_INSTRUCTIONS,
  MAX_KEPT_BYTES,
  MAX_NAME,
  type SkillVersion,
  skillScope,
  skillSource,
  slugOf,
} from '@app/skills';
import { skillRow } from '@projections/skills';
import { z } from 'zod';

const name = nameSchema(MAX_NAME).refine((text) => slugOf(text) !== undefined, {
  message: 'must contain digits, or letters of one script, to make a slug',
});
const description = textSchema(MAX_DESCRIPTION).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const instructions = textSchema(MAX_INSTRUCTIONS).refine((text) => text.trim() !== '', {
  message: 'must not be empty',
});
const frontmatter = z
  .record(z.string().min(1).max(100), jsonValue)
  .refine((keys) => !Object.hasOwn(keys, 'name') && !Object.hasOwn(keys, 'description'), {
    message: 'must not contain name or description: they are separate fields',
  })
  // As much as a file takes: an export can be read again.
  .refine((keys) => Buffer.byteLength(JSON.stringify(keys)) <= MAX_KEPT_BYTES, {
    message: `must have at most ${MAX_KEPT_BYTES} bytes`,
  });

const contentFields = {
  description: description.describe('When an Agent should use it.'),
  instructions: instructions.describe('The instructions for the Agent, in Markdown.'),
  frontmatter: frontmatter.describe('Other frontmatter keys of SKILL.md.'),
};

export const placed = {
  scope: skillScope.describe('Available to a Space, with all its Agents, or to one Agent.'),
  spaceId: z.uuid().optional().describe('The Space, with the scope `space`.'),
  agentId: z.uuid().optional().describe('The Agent, with the scope `agent`.'),
};
type Placed = {
  readonly scope: 'space' | 'agent';
  readonly spaceId?: string | undefined;
  readonly agentId?: string | undefined;
};
const PUBLISH = 'Publishes it immediately.';
export const hasNoOther = ({ scope, spaceId, agentId }: Placed): boolean =>
  (scope === 'space' ? agentId : spaceId) === undefined;
export const hasPlace = ({ scope, spaceId, agentId }: Placed): boolean =>
  (scope === 'space' ? spaceId : agentId) !== undefined;
export const NO_OTHER = { path: ['scope'], message: 'takes spaceId with space, and agentId with agent' };
export const NEEDED = { path: ['scope'], message: 'needs spaceId with space, and agentId with agent' };

export const uploadedSkill = withFile(
  z
    .strictObject({ ...placed, publish: flagText.default(false).describe(PUBLISH) })
    .refine(hasNoOther, NO_OTHER)
    .refine(hasPlace, NEEDED),
  'The Skill, a `.md`, `.zip` or `.skill`.',
);

const mode = z.enum(['create', 'update']).default('create');
export const importedSkills = withFile(
  z
    .strictObject({
      ...placed,
      mode: mode.describe('`create` makes new Skills; `update` makes drafts of the Skills with the same slugs.'),
    })
    .refine(hasNoOther, NO_OTHER)
    .refine(hasPlace, NEEDED),
  'A zip archive of Skills.',
);

export const newSkill = z
  .strictObject({
    ...placed,
    name: name.describe('Its name.'),
    ...contentFields,
    frontmatter: contentFields.frontmatter.default({}),
    publish: z.boolean().default(false).describe(PUBLISH),
  })
  .refine(hasNoOther, NO_OTHER)
  .refine(hasPlace, NEEDED);

export const skillUpdate = z.strictObject({ name: name.describe('Its name.'), ...contentFields }).partial();

export const activation = z.strictObject({ versionId: z.uuid().describe('A published version of the Skill.') });

export const skillsQuery = listQuery({
  spaceId: z.uuid().optional().describe('Only Skills of this Space.'),
  agentId: z
    .uuid()
    .optional()
    .describe(
      'Only Skills that this Agent can load. With the status `draft`, for editors: those that were never published, which it cannot load.',
    ),
  source: skillSource.optional().describe('How it was created.'),
  status: z.enum(['draft', 'published', 'archived']).optional().describe('Its state.'),
  q: z.string().min(1).max(200).optional().describe('Text in the name, slug or description, ignoring case.'),
});

const availability = z.enum(['agent', 'space', 'installed', 'default']).describe('Where the Agent gets it from.');

const shownRow = skillRow.omit({ place: true, draftDescription: true }).extend({ description: z.string() });

/** What a row or a stream says of a Skill. */
export type ShownSkill = Omit<z.output<typeof skillRow>, 'place'>;

export const skillView = presenter<ShownSkill>(
  'Skill',
  exposed(shownRow, {
    id: true,
    name: 'Its name.',
    slug: 'Its slug in the Agent Skills format. It never changes.',
    description: 'When an Agent should use it.',
    scope: 'Available to a Space or to one Agent.',
    spaceId: 'Its Space.',
    agentId: 'Its Agent; null for all Agents of the Space.',
    source: 'How it was created.',
    provider: 'What made it.',
    sourceId: 'What it was made from; null if nothing in this instance.',
    creatorType: 'Who made it.',
    creatorId: 'The user who made it.',
    status: 'Whether it has ever been published.',
    activeVersionId: 'The version that Agents load; null before the first one.',
    hasDraft: 'Whether it has unpublished changes.',
    createdAt: true,
    updatedAt: true,
    revision: true,
  }),
  ({ draftDescription, description: live, ...skill }) => ({ ...skill, description: live ?? draftDescription ?? '' }),
);

/** Of what is not the Agent's own or its Space's. */
export const AVAILABILITY = { MARKETPLACE: 'installed', DEFAULT: 'default', CUSTOM: undefined } as const;

export const listedSkill = skillView.schema
  .extend({
    availability: availability.optional(),
    installationId: z.string().optional().describe('Its installation here, for a Skill of the marketplace.'),
  })
  .meta({ id: 'ListedSkill' });
const finding = z.object({
  rule: z.string().describe('What was found.'),
  path: z.string().describe('The file.'),
  line: z
    .number()
    .int()
    .describe(
      'The line, from 1; in `SKILL.md`, a line of the instructions. 0 for the description, the slug or the file path.',
    ),
});
const shownFile = z.object({
  path: z.string().describe('Its path in the Skill.'),
  mediaType: z.string().describe('Its media type, by its name.'),
  sizeBytes: z.number().int().describe('Its size in bytes.'),
  sha256: z.string().describe('SHA-256 of its bytes, hex.'),
});

export const versionView = presenter<{ readonly skillId: string; readonly version: SkillVersion }>(
  'SkillVersion',
  z.object({
    id: z.string().describe('Its id.'),
    skillId: z.string().describe('The Skill.'),
    number: z.number().int().describe('Its number, from 1.'),
    status: z.enum(['draft', 'published']).describe('A published version never changes.'),
    description: z.string().describe('When an Agent should use it.'),
    instructions: z.string().describe('The instructions for the Agent.'),
    frontmatter: z.record(z.string(), jsonValue).describe('Other frontmatter keys.'),
    files: z.array(shownFile).describe('Its reference files, in the order of their paths.'),
    contentHash: z.string().describe('A hash of the content: equal content has an equal hash.'),
    basedOn: z.string().nullable().describe('The version that it was copied from.'),
    findings: z.array(finding).describe('The findings of screening in its texts.'),
    createdBy: z.string().nullable().describe('The user who started it.'),
    createdAt: z.string().describe('When it was started.'),
    publishedAt: z.string().nullable().describe('When it was published; null for the draft.'),
  }),
  ({ skillId, version }) => ({
    ...version,
    skillId,
    status: version.publishedAt === null ? 'draft' : 'published',
    files: filesOf(version).filter(({ path }) => !isErased(path)),
    contentHash: hashOf(version),
    findings: [
      ...version.findings.map((each) => ({ ...each, path: 'SKILL.md' })),
      ...filesOf(version).flatMap((file) => file.findings.map((each) => ({ ...each, path: keyOf(file) }))),
    ],
    frontmatter: revealed<object>(version.frontmatter, {}),
  }),
);

/** A Skill as it was written, with what was not as the format wants it. */
/** What was not as the format wants it. */
export const warnings = z
  .array(
    z.object({
      code: z.string().describe('The problem that was corrected, as a stable code.'),
      path: z.string().describe('The file.'),
      message: z.string().describe('What to change.'),
    }),
  )
  .describe('Format problems that were corrected.');
export const warned = skillView.schema
  .extend({
    warnings,
  })
  .meta({ id: 'WrittenSkill' });
