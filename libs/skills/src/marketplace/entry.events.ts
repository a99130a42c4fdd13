import { defineEvent, type EventsOf, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';
import { MAX_DESCRIPTION, MAX_INSTRUCTIONS } from '../archive';
import { finding, storedFile } from '../skill/skill.events';

const id = z.uuid();
const name = sensitive(textSchema(500));

export const skillListed = defineEvent({
  type: 'SkillListed',
  description:
    'A version of a Skill was copied to the marketplace with its files, as a new entry or as the next version of one. An entry keeps the name and slug of its first version. `sourceId` is null for Skills from the folder of default Skills.',
  data: z.strictObject({
    versionId: id,
    number: z.number().int().positive(),
    /** The Skill that it is a copy of. */
    sourceId: id.nullable(),
    listedBy: id.nullable(),
    name,
    slug: name,
    description: sensitive(textSchema(MAX_DESCRIPTION)),
    instructions: sensitive(textSchema(MAX_INSTRUCTIONS)),
    frontmatter: sensitive(z.record(z.string(), z.json())),
    findings: z.array(finding),
    files: z.array(storedFile),
    contentHash: sensitive(z.string().min(1)),
  }),
});

export const skillArchived = defineEvent({
  type: 'SkillArchived',
  description:
    'An entry of the marketplace was archived. It is no longer listed and cannot be installed. Existing installations go on.',
  data: z.strictObject({ archivedBy: id }),
});

export const skillRestored = defineEvent({
  type: 'SkillRestored',
  description: 'An archived entry of the marketplace is listed again.',
  data: z.strictObject({ restoredBy: id }),
});

export const entryEvents = [skillListed, skillArchived, skillRestored] as const;
export type EntryEvent = EventsOf<typeof entryEvents>;
