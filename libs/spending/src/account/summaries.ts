import type { Account, Hold } from './account';
import type { AccountEvent, Calendar } from './account.events';

/** Moves between two summaries. */
export const SUMMARISED_EVERY = 100;
/** Holds that a part tells of: beside the largest batch of moves it fits into the largest append, also where models have the longest keys. */
const HOLDS_AT_ONCE = 300;
const SIZES = { every: SUMMARISED_EVERY, holdsAtOnce: HOLDS_AT_ONCE };

type IdentifiedHold = readonly [id: string, hold: Hold];

/**
 * What goes into the log behind the events that led to this account, in the same append; undefined for nothing. Where many
 * calls hold, each append takes a part of them until the rest fits into the summary: how many there are bounds what has to be folded, and
 * nothing is ever too large an event.
 */
export const summaryDue = (account: Account, { every, holdsAtOnce } = SIZES): AccountEvent | undefined => {
  const { calendar, moves, holds, parts } = account;
  if (calendar === null || (parts === null && moves < every)) return undefined;
  const left = [...holds].filter(([id]) => parts?.left.has(id) ?? true);
  if (left.length <= holdsAtOnce) return summaryOf({ ...account, calendar }, left);
  return { type: 'SpendHoldsSummarised', data: { holds: left.slice(0, holdsAtOnce).map(told) } };
};

/** The account as one event, from which it can be folded again; behind its parts, where they have told of other holds than these. */
export const summaryOf = (
  {
    calendar,
    currency,
    upTo,
    windows,
    told: reached,
    holds,
    freed,
    ended,
    parts,
  }: Account & { readonly calendar: Calendar },
  left: readonly IdentifiedHold[] = [...holds],
): AccountEvent => ({
  type: 'SpendSummarised',
  data: {
    calendar,
    ...(currency === undefined ? {} : { currency }),
    upTo,
    windows: [...windows].map(([window, spent]) => ({
      window,
      spent: spent.toString(),
      ...(reached.has(window) ? { told: String(reached.get(window)) } : {}),
    })),
    holds: left.map(told),
    freed: [...freed],
    ended: [...ended],
    ...(parts === null ? {} : { reachesBack: parts.events }),
  },
});

type SummarisedHold = Extract<AccountEvent, { type: 'SpendHoldsSummarised' }>['data']['holds'][number];

const told = ([id, { amount, isIncluded, ...hold }]: IdentifiedHold): SummarisedHold => ({
  id,
  ...hold,
  amount: amount.toString(),
  ...(isIncluded ? { isIncluded } : {}),
});

/** Holds as a summary or a part of one tells of them. */
export const holdsTold = (holds: readonly SummarisedHold[]): readonly IdentifiedHold[] =>
  holds.map(({ id, amount, isIncluded = false, ...hold }) => [id, { ...hold, amount: BigInt(amount), isIncluded }]);
