import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

const id = z.uuid();

export const skillNameTaken = defineEvent({
  type: 'SkillNameTaken',
  description:
    'A Skill took its name and slug in a Space, with a ticket of its own. Both are keyed hashes, which give nothing away. `agentId`: it is available to that Agent alone. `entryId`: it is an installation of this entry of the marketplace.',
  data: z.strictObject({
    skillId: id,
    agentId: id.nullable(),
    ticket: id,
    name: z.string(),
    slug: z.string(),
    entryId: id.exactOptional(),
  }),
});

export const skillNameReleased = defineEvent({
  type: 'SkillNameReleased',
  description: 'A Skill gave a ticket to its name back: it was renamed, deleted or never came to be.',
  data: z.strictObject({ skillId: id, ticket: id }),
});

export const skillNameEvents = [skillNameTaken, skillNameReleased] as const;
export type SkillNameEvent = EventsOf<typeof skillNameEvents>;
