import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

/**
 * What a thing holds on to a name that must be unique: the reservation's id and a ticket of its own. The key is a
 * keyed hash of the normalised name, so that it gives the name away to nobody.
 */
export const claimSchema = z.strictObject({ key: z.string(), ticket: z.uuid() });
export type Claim = z.output<typeof claimSchema>;

export const nameReserved = defineEvent({
  type: 'NameReserved',
  description:
    'A name that must be unique was reserved for a thing: by one ticket more where it holds the name, and otherwise in place of whoever held it before.',
  data: z.strictObject({ owner: z.string(), ticket: z.uuid() }),
});

export const nameReleased = defineEvent({
  type: 'NameReleased',
  description: 'A ticket to a reserved name was given back; with the last one the name became free.',
  data: z.strictObject({ ticket: z.uuid() }),
});

/** Stands in the stream of the thing that reserved a name and never used it. */
export const claimForfeited = defineEvent({
  type: 'ClaimForfeited',
  description:
    'A thing lost its claim to a name that it had reserved and did not use; a command that comes late with this claim is refused.',
  data: claimSchema,
});

export type ReservationEvent = EventsOf<[typeof nameReserved, typeof nameReleased]>;
