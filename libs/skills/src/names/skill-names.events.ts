import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

const id = z.uuid();

export const skillNameTaken = defineEvent({
  type: 'SkillNameTaken',
  description:
    'A Skill took its name and slug in a Space, with a ticket of its own. Both are keyed hashes that reveal nothing. `agentId`: only this Agent has the Skill. `entryId`: it is an installation of this entry of the marketplace.',
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
  description: 'A Skill gave back a ticket to its name: it was renamed or deleted, or its creation failed.',
  data: z.strictObject({ skillId: id, ticket: id }),
});

export const skillNameEvents = [skillNameTaken, skillNameReleased] as const;
export type SkillNameEvent = EventsOf<typeof skillNameEvents>;
