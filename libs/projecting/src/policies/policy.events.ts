import { defineEvent } from '@app/kernel';
import { z } from 'zod';

const place = {
  eventId: z.uuid(),
  stream: z.string().min(1),
  revision: z.number().int().nonnegative(),
  position: z.string(),
};

/** In `policy-<name>`. Found again by stream and revision, so it stays valid in a log with other positions. */
export const PolicyAdvanced = defineEvent({
  type: 'PolicyAdvanced',
  description: 'A policy has handled all its events up to `eventId`, which may be of a type that it does not handle.',
  data: z.strictObject(place),
});

/** Stands in `policyLetters-<name>`. */
export const PolicyDeadLettered = defineEvent({
  type: 'PolicyDeadLettered',
  description: 'A policy could not handle an event. Later events of its stream wait.',
  data: z.strictObject({
    ...place,
    eventType: z.string(),
    reason: z.enum(['unknown_type', 'schema', 'newer_schema', 'reaction']),
    detail: z.string(),
    attempts: z.number().int().positive(),
  }),
});

/** Stands in `policyLetters-<name>`. */
export const PolicyDeadLetterSettled = defineEvent({
  type: 'PolicyDeadLetterSettled',
  description: 'An operator retried or discarded a dead letter of the policy.',
  data: z.strictObject({ eventId: z.uuid(), stream: z.string().min(1), outcome: z.enum(['retried', 'discarded']) }),
});

/** The kinds of event that policies append, for the catalogue. */
export const policyEvents = [PolicyAdvanced, PolicyDeadLettered, PolicyDeadLetterSettled] as const;
