import type { AccountEvent, Calendar, CallReservation, SpendMoved } from './account.events';
import { holdsTold } from './summaries';

/** Money set aside for a call that has not ended. */
export interface Hold {
  /** The process that runs the call. */
  readonly by: string;
  /** Nano-units. */
  readonly amount: bigint;
  /** Start of the window that the call began in. */
  readonly window: string | null;
  /** Covered by what is included here. */
  readonly isIncluded: boolean;
  /** What is recorded of the call when its process dies; holds of earlier versions do not know. */
  readonly call?: CallReservation;
}

/** What was spent and is held under one limit. */
export interface Account {
  /** Null before it was opened. */
  readonly calendar: Calendar | null;
  /** Of all its amounts; undefined where only earlier versions wrote of it. */
  readonly currency?: string;
  /** Usage recorded up to this position is in what was spent at the opening. */
  readonly upTo: string | null;
  /** Nano-units spent, by start of the window: the last two, and earlier ones that calls still run in. */
  readonly windows: ReadonlyMap<string | null, bigint>;
  /** The amount of the limit that was reported as reached in a window, nano-units, by its start. */
  readonly told: ReadonlyMap<string | null, bigint>;
  readonly holds: ReadonlyMap<string, Hold>;
  /**
   * The last calls of processes considered dead whose reservations were freed: their cost counts if it is reported
   * after all.
   */
  readonly freed: readonly string[];
  /** The same, settled from usage records instead: a later report was already counted. */
  readonly ended: readonly string[];
  /** Events since the last summary. */
  readonly moves: number;
  /** Of the summary that is being written in parts; null while there is none. */
  readonly parts: SummaryParts | null;
}

/** A partly written summary. */
export interface SummaryParts {
  /** Events since it was begun, its first part among them. */
  readonly events: number;
  /** Ids of the reservations at that time that no part contains yet. */
  readonly left: ReadonlySet<string>;
}

export const UNOPENED: Account = {
  calendar: null,
  upTo: null,
  windows: new Map(),
  told: new Map(),
  holds: new Map(),
  freed: [],
  ended: [],
  moves: 0,
  parts: null,
};

/** The open and the previous window: another process's clock may be behind. */
const WINDOWS_KEPT = 2;
/** How many calls of dead processes are remembered. */
const REMEMBERED = 200;

/** Folds an event into an account. */
export const evolveAccount = ({ parts, ...before }: Account, event: AccountEvent): Account => {
  const account: Account = { ...before, parts: parts && { ...parts, events: parts.events + 1 } };
  switch (event.type) {
    case 'SpendAccountOpened': {
      const { calendar, currency, window, spent, upTo } = event.data;
      // All running calls count in the present window, whatever calendar they began under; except calls in another
      // currency.
      const isOther = account.currency !== undefined && currency !== undefined && currency !== account.currency;
      const kept = isOther ? [] : [...account.holds];
      const holds = new Map(kept.map(([id, hold]) => [id, { ...hold, window }]));
      return {
        ...account,
        ...(currency === undefined ? {} : { currency }),
        calendar,
        upTo,
        windows: new Map([[window, BigInt(spent)]]),
        told: new Map(),
        holds,
        moves: account.moves + 1,
      };
    }
    case 'SpendMoved':
      return moved(inCurrency(account, event.data.currency), event.data);
    case 'SpendLimitReached':
      return { ...account, told: new Map(account.told).set(event.data.window, BigInt(event.data.amount)) };
    case 'SpendHoldsSummarised': {
      // Nothing new, unless the fold begins here: all that the account is beside holds follows with the summary.
      const holds = new Map([...account.holds, ...holdsTold(event.data.holds)]);
      const left = new Set(account.parts?.left ?? holds.keys());
      for (const { id } of event.data.holds) left.delete(id);
      return { ...account, holds, parts: { events: account.parts?.events ?? 1, left } };
    }
    case 'SpendSummarised': {
      const { calendar, currency, upTo, windows, holds, freed, ended, reachesBack } = event.data;
      return {
        ...(currency === undefined ? {} : { currency }),
        calendar,
        upTo,
        windows: new Map(windows.map(({ window, spent }) => [window, BigInt(spent)])),
        told: new Map(windows.flatMap(({ window, told }) => (told === undefined ? [] : [[window, BigInt(told)]]))),
        holds: new Map([...(reachesBack === undefined ? [] : account.holds), ...holdsTold(holds)]),
        freed,
        ended,
        moves: 0,
        parts: null,
      };
    }
  }
};

const inCurrency = (account: Account, currency: string | undefined): Account =>
  currency === undefined || currency === account.currency ? account : { ...account, currency };

const moved = (account: Account, { held, settled, freed }: SpendMoved): Account => {
  const windows = new Map(account.windows);
  const holds = new Map(account.holds);
  const spend = (window: string | null, cost: string): unknown =>
    windows.set(window, (windows.get(window) ?? 0n) + BigInt(cost));
  for (const { id, amount, ...hold } of held) {
    spend(hold.window, '0');
    holds.set(id, { ...hold, amount: BigInt(amount) });
  }
  for (const { id, cost, window } of settled) {
    spend(window, cost);
    holds.delete(id);
  }
  for (const { id, cost, window } of freed) {
    if (cost !== null) spend(window ?? holds.get(id)?.window ?? null, cost);
    holds.delete(id);
  }
  const latest = [...windows.keys()].toSorted().slice(-WINDOWS_KEPT);
  const inUse = new Set([...latest, ...[...holds.values()].map(({ window }) => window)]);
  for (const start of windows.keys()) if (!inUse.has(start)) windows.delete(start);
  const settledIds = new Set(settled.map(({ id }) => id));
  const remember = (ids: readonly string[], more: readonly { readonly id: string }[]): readonly string[] =>
    more.length === 0 && !ids.some((id) => settledIds.has(id))
      ? ids
      : [...ids.filter((id) => !settledIds.has(id)), ...more.map(({ id }) => id)].slice(-REMEMBERED);
  return {
    ...account,
    windows,
    told: new Map([...account.told].filter(([start]) => windows.has(start))),
    holds,
    freed: remember(
      account.freed,
      freed.filter(({ cost }) => cost === null),
    ),
    ended: remember(
      account.ended,
      freed.filter(({ cost }) => cost !== null),
    ),
    moves: account.moves + 1,
  };
};

/** What of a window was spent, nano-units. */
export const spentIn = ({ windows }: Account, window: string | null): bigint => windows.get(window) ?? 0n;

/** What is held for calls of a window, nano-units. */
export const heldIn = ({ holds }: Account, window: string | null): bigint => {
  let sum = 0n;
  for (const hold of holds.values()) if (hold.window === window) sum += hold.amount;
  return sum;
};
