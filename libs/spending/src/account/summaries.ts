import type { Account, Hold } from './account';
import type { AccountEvent, Calendar } from './account.events';

/** Moves between two summaries. */
export const SUMMARISED_EVERY = 100;
/**
 * Reservations per part: it fits into the largest append together with the largest batch of moves, even with the
 * longest model keys.
 */
const HOLDS_AT_ONCE = 300;
const SIZES = { every: SUMMARISED_EVERY, holdsAtOnce: HOLDS_AT_ONCE };

type IdentifiedHold = readonly [id: string, hold: Hold];

/**
 * The summary events to append with the events that led to this account; undefined for none. If many calls have
 * reservations, each append takes a part of them until the rest fits into the summary. The number of parts limits how
 * much has to be folded, and no event is ever too large.
 */
export const summaryDue = (account: Account, { every, holdsAtOnce } = SIZES): AccountEvent | undefined => {
  const { calendar, moves, holds, parts } = account;
  if (calendar === null || (parts === null && moves < every)) return undefined;
  const left = [...holds].filter(([id]) => parts?.left.has(id) ?? true);
  if (left.length <= holdsAtOnce) return summaryOf({ ...account, calendar }, left);
  return { type: 'SpendHoldsSummarised', data: { holds: left.slice(0, holdsAtOnce).map(told) } };
};

/** The account as one event, from which it can be folded again, together with its parts for the other reservations. */
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
