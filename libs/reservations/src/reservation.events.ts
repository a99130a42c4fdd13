import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

/**
 * What an aggregate holds on to a unique name: the id of the reservation and a ticket of its own. The key is a keyed
 * hash of the normalised name, which reveals nothing of the name.
 */
export const claimSchema = z.strictObject({ key: z.string(), ticket: z.uuid() });
export type Claim = z.output<typeof claimSchema>;

export const nameReserved = defineEvent({
  type: 'NameReserved',
  description:
    'A unique name was reserved for an aggregate. If the aggregate already holds the name, this is one more ticket to it; otherwise it replaces the previous holder.',
  data: z.strictObject({ owner: z.string(), ticket: z.uuid() }),
});

export const nameReleased = defineEvent({
  type: 'NameReleased',
  description: 'A ticket to a reserved name was given back. Giving back the last ticket frees the name.',
  data: z.strictObject({ ticket: z.uuid() }),
});

/** Stands in the stream of the aggregate that reserved a name and never used it. */
export const claimForfeited = defineEvent({
  type: 'ClaimForfeited',
  description: 'An aggregate reserved a name, did not use it and lost it. A late command with this claim is rejected.',
  data: claimSchema,
});

export type ReservationEvent = EventsOf<[typeof nameReserved, typeof nameReleased]>;
