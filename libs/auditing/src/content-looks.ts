import { type Decider, defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

/** Looking at content is on record before the content is shown. */
export const AuditorLookedAtContent = defineEvent({
  type: 'AuditorLookedAtContent',
  description: 'Somebody with the permission audit:content looked at decrypted content.',
  data: z.strictObject({
    /** What was asked for: the filters of a list of events, or the kind and id of an object. */
    asked: z.record(z.string(), z.string()),
    events: z.number().int().nonnegative(),
    /** Positions of the first and the last of these events, in the order shown; null where there were none. */
    first: z.string().nullable(),
    last: z.string().nullable(),
  }),
});

export const contentLookEvents = [AuditorLookedAtContent] as const;
type LookEvent = EventsOf<typeof contentLookEvents>;

/** What somebody was shown, and how they asked for it. */
export type Look = LookEvent['data'];

/** The looks of one user: stream `audit-<userId>`. Every look is an event, also the same one again. */
export const contentLooks: Decider<null, Look, LookEvent> = {
  category: 'audit',
  initial: null,
  decide: (look) => [{ type: 'AuditorLookedAtContent', data: look }],
  evolve: () => null,
};
