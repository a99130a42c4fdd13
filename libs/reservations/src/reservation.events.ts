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
    'A unique name was reserved for an aggregate: with one more ticket if it holds the name, otherwise in place of the previous holder.',
  data: z.strictObject({ owner: z.string(), ticket: z.uuid() }),
});

export const nameReleased = defineEvent({
  type: 'NameReleased',
  description: 'A ticket to a reserved name was given back. With the last one the name became free.',
  data: z.strictObject({ ticket: z.uuid() }),
});

/** Stands in the stream of the aggregate that reserved a name and never used it. */
export const claimForfeited = defineEvent({
  type: 'ClaimForfeited',
  description:
    'An aggregate lost its claim to a name that it had reserved but not used. A late command with this claim is rejected.',
  data: claimSchema,
});

export type ReservationEvent = EventsOf<[typeof nameReserved, typeof nameReleased]>;
