import { defineEvent, type EventsOf, heldBlob, releasedBlobs, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';
import { MAX_DESCRIPTION, MAX_INSTRUCTIONS, MAX_PATH } from '../archive';

/** Where a Skill is available: to a Space, which its Agents inherit, or to one Agent. */
export const skillScope = z.enum(['space', 'agent']);
export type SkillScope = z.output<typeof skillScope>;

/** How a Skill came here. */
export const skillSource = z.enum(['CUSTOM', 'DEFAULT', 'MARKETPLACE']);
export type SkillSource = z.output<typeof skillSource>;

const id = z.uuid();
const count = z.number().int().nonnegative();
/** Longer than any name may be today. */
const name = sensitive(textSchema(500));
const slug = sensitive(textSchema(500));
const description = sensitive(textSchema(MAX_DESCRIPTION));
/** SHA-256 in hex; encrypted, since equal hashes would tell who has which content. */
const hash = sensitive(z.string().min(1));

/** What screening found, in the text at hand; line 0 is the description. */
export const finding = z.strictObject({ rule: z.string(), line: count });
export type TextFinding = z.output<typeof finding>;

export const storedFile = z.strictObject({
  path: sensitive(textSchema(MAX_PATH)),
  mediaType: z.string(),
  sizeBytes: count,
  sha256: hash,
  file: heldBlob(),
  findings: z.array(finding),
});
/** A reference file as a version holds it. `file` names its stored body. */
export type StoredFile = z.output<typeof storedFile>;

export const skillCreated = defineEvent({
  type: 'SkillCreated',
  description:
    'A Skill was created for a Space or one Agent, with a first draft. `ticket` is its claim to its name in the Space.',
  data: z.strictObject({
    scope: skillScope,
    spaceId: id,
    agentId: id.nullable(),
    name,
    slug,
    ticket: id,
    source: skillSource,
    /** What made it: `inline`, `upload` or another origin. */
    provider: z.string(),
    sourceId: id.nullable(),
    creatorType: z.enum(['PLATFORM', 'USER']),
    creatorId: id.nullable(),
  }),
});

export const skillRenamed = defineEvent({
  type: 'SkillRenamed',
  description: 'The name of a Skill changed; its slug did not. `released` is its claim to the name before.',
  data: z.strictObject({ name, ticket: id, spaceId: id, released: id }),
});

export const skillDraftSaved = defineEvent({
  type: 'SkillDraftSaved',
  description:
    'The draft of a Skill changed, or began as a copy of the version `basedOn`. The active version did not change. Absent fields did not change. `files` were added or replaced; `superseded` names stored bodies that nothing refers to any more.',
  data: z.strictObject({
    versionId: id,
    number: z.number().int().positive(),
    basedOn: id.nullable(),
    savedBy: id.nullable(),
    description: description.exactOptional(),
    instructions: sensitive(textSchema(MAX_INSTRUCTIONS)).exactOptional(),
    frontmatter: sensitive(z.record(z.string(), z.json())).exactOptional(),
    /** Of description and instructions. */
    findings: z.array(finding).exactOptional(),
    files: z.array(storedFile),
    removed: sensitive(z.array(z.string())),
    superseded: releasedBlobs(),
  }),
});

export const skillDraftDiscarded = defineEvent({
  type: 'SkillDraftDiscarded',
  description: 'The draft of a Skill was discarded. `superseded` names stored bodies that no published version uses.',
  data: z.strictObject({ versionId: id, superseded: releasedBlobs() }),
});

export const skillPublished = defineEvent({
  type: 'SkillPublished',
  description: 'The draft of a Skill was published. Agents load this version, and it never changes.',
  data: z.strictObject({ versionId: id, number: z.number().int().positive(), description, contentHash: hash }),
});

export const skillVersionActivated = defineEvent({
  type: 'SkillVersionActivated',
  description: 'Agents load another published version of a Skill from now on.',
  data: z.strictObject({ versionId: id, description }),
});

export const skillDeleted = defineEvent({
  type: 'SkillDeleted',
  description:
    'A Skill was deleted permanently, with all its versions. `ticket` is its claim to its name, `blobs` lists its stored bodies.',
  data: z.strictObject({ spaceId: id, agentId: id.nullable(), ticket: id, blobs: releasedBlobs() }),
});

export const skillEvents = [
  skillCreated,
  skillRenamed,
  skillDraftSaved,
  skillDraftDiscarded,
  skillPublished,
  skillVersionActivated,
  skillDeleted,
] as const;
export type SkillEvent = EventsOf<typeof skillEvents>;
