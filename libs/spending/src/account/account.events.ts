import { defineEvent, type EventOf, type EventsOf, nanoText } from '@app/kernel';
import { unitUsage } from '@app/models';
import { z } from 'zod';

const windowStart = z.iso.datetime().nullable();

/** A call as its record needs it when the process that runs it dies: `cost` is that of its input and units, as counted before it began. */
const callReservation = z.strictObject({
  at: z.iso.datetime(),
  kind: z.enum(['chat', 'embedding', 'rerank', 'image', 'speech', 'transcription']),
  userId: z.string(),
  keyId: z.string().exactOptional(),
  agentId: z.string().exactOptional(),
  spaceId: z.string().exactOptional(),
  model: z.string(),
  priceVersion: z.string(),
  inputTokens: z.number().int().nonnegative(),
  units: unitUsage.exactOptional(),
  cost: nanoText,
  /** Absent in earlier versions: that of the platform. */
  currency: z.string().exactOptional(),
});
/** The currency of all amounts of the account; absent where earlier versions wrote it, which did not say. */
const currency = z.string().exactOptional();
/** Money set aside for a call that has not ended. `by`: the process that runs it. Holds of earlier versions do not say what the call is. */
const hold = z.strictObject({
  id: z.uuid(),
  by: z.string(),
  amount: nanoText,
  window: windowStart,
  isIncluded: z.boolean(),
  call: callReservation.exactOptional(),
});
/** The calendar that the account counts by. */
const calendar = z.strictObject({
  window: z.enum(['day', 'week', 'month', 'total']),
  timeZone: z.string(),
  anchor: z.iso.datetime().nullable(),
  /** The second, third ... limit of the same API key: nobody counted for this account while there was none. */
  ordinal: z.number().int().min(2).exactOptional(),
});

export const spendAccountOpened = defineEvent({
  type: 'SpendAccountOpened',
  description:
    'The account of a limit was opened, its calendar changed, or the limit of its API key was set again. `spent` is the cost in usage records of this window up to the position `upTo`. Reservations stay, unless the currency changed.',
  data: z.strictObject({ calendar, currency, window: windowStart, spent: nanoText, upTo: z.string().nullable() }),
});

export const spendMoved = defineEvent({
  type: 'SpendMoved',
  description:
    'Calls began and ended under a limit. `held`: reservations for calls that began. `settled`: the cost of calls that ended. `freed`: reservations of dead processes, with the cost of the call if usage records have it or it was recorded for that process. Amounts are nano-units.',
  data: z.strictObject({
    currency,
    held: z.array(hold),
    settled: z.array(z.strictObject({ id: z.uuid(), cost: nanoText, window: windowStart })),
    /** `window`: of a call that holds nothing here. */
    freed: z.array(z.strictObject({ id: z.uuid(), cost: nanoText.nullable(), window: windowStart.exactOptional() })),
  }),
});

export const spendLimitReached = defineEvent({
  type: 'SpendLimitReached',
  description:
    'A spend limit was reached. Recorded once per window and amount; after a change of the amount, with the next call. Amounts are nano-units.',
  data: z.strictObject({ window: windowStart, spent: nanoText, amount: nanoText, action: z.enum(['block', 'warn']) }),
});

const summarisedHolds = z.array(hold.extend({ isIncluded: z.boolean().exactOptional() }));

export const spendHoldsSummarised = defineEvent({
  type: 'SpendHoldsSummarised',
  description:
    'A part of the summary that follows: some of the reservations under a limit, which are too many for one event.',
  data: z.strictObject({ holds: summarisedHolds }),
});

export const spendSummarised = defineEvent({
  type: 'SpendSummarised',
  description:
    'The balance of the account of a limit. Decisions need no earlier events, except the parts of this summary directly before it.',
  data: z.strictObject({
    calendar,
    currency,
    upTo: z.string().nullable(),
    /** `told`: the amount that was told to be reached. */
    windows: z.array(z.strictObject({ window: windowStart, spent: nanoText, told: nanoText.exactOptional() })),
    holds: summarisedHolds,
    freed: z.array(z.uuid()),
    ended: z.array(z.uuid()),
    /** Events right before it that have to be folded first, from its first part on: they tell of the other holds. */
    reachesBack: z.number().int().positive().exactOptional(),
  }),
});

export const accountEvents = [
  spendAccountOpened,
  spendMoved,
  spendLimitReached,
  spendHoldsSummarised,
  spendSummarised,
] as const;
export type AccountEvent = EventsOf<typeof accountEvents>;
export type CallReservation = z.output<typeof callReservation>;
export type Calendar = z.output<typeof calendar>;
export type SpendMoved = EventOf<typeof spendMoved>['data'];
