import { windowAt } from '../windows';
import { type Account, heldIn, spentIn } from './account';
import type { AccountEvent, CallReservation, SpendMoved } from './account.events';

/** What a limit says, in nano-units. */
export interface Terms {
  readonly amount: bigint;
  readonly action: 'block' | 'warn';
  readonly included: bigint | null;
}

/** Money of one currency. */
interface Priced {
  readonly currency: string;
}

/** What is asked of an account. */
export type Move =
  /** A call wants to begin; `estimate` is what it may cost, `at` the time in milliseconds. */
  | (Priced & {
      readonly type: 'hold';
      readonly id: string;
      readonly by: string;
      readonly estimate: bigint;
      readonly at: number;
      readonly call?: CallReservation;
    })
  /** Would a call be let begin? Nothing is held. */
  | (Priced & { readonly type: 'ask'; readonly id: string; readonly at: number })
  /** A call that began `at` a time ended, or never began (cost 0). `position`: of its usage record. */
  | (Priced & {
      readonly type: 'settle';
      readonly id: string;
      readonly cost: bigint;
      readonly at: number;
      readonly position: string | null;
    })
  /**
   * The process of a call is dead. `cost`: from usage records; null if they have none. With `at`, when it began, it
   * counts even without a reservation.
   */
  | (Priced & {
      readonly type: 'free';
      readonly id: string;
      readonly cost: bigint | null;
      readonly position: string | null;
      readonly at?: number;
    });

/** The answer to a reservation, or to a question. */
export type Answer =
  /** `isHeld`: the account counts the call; false for a call in another currency, and for a question. */
  | { readonly granted: true; readonly isIncluded: boolean; readonly isHeld: boolean }
  /** `currency`: that of the account, where the call costs another. */
  | { readonly granted: false; readonly spent: bigint; readonly held: bigint; readonly currency?: string };

export interface Decided {
  readonly events: readonly AccountEvent[];
  /** By id of the call. */
  readonly answers: ReadonlyMap<string, Answer>;
}

/**
 * Decides moves together, ends before beginnings. A blocking limit lets a call begin while anything is left, and
 * reserves its highest cost; until it has ended nothing is left. So a limit is exceeded by the cost of one call at
 * most. What costs another currency than the account's is never added to it: a blocking limit cannot tell what it leaves over and
 * lets no such call begin; one that warns lets it, uncounted. `currency`: of an account that does not know its own.
 */
export const decideMoves = (account: Account, terms: Terms, moves: readonly Move[], currency: string): Decided => {
  const tally = new Tally(account, currency);
  const answers = new Map<string, Answer>();
  for (const move of moves) if (isEnd(move)) tally.end(move);
  for (const move of moves) {
    if (isEnd(move)) continue;
    const { spent, held } = tally.in(tally.windowOf(move.at));
    if (move.currency !== tally.currency) {
      answers.set(
        move.id,
        terms.action === 'block'
          ? { granted: false, spent, held, currency: tally.currency }
          : { granted: true, isIncluded: false, isHeld: false },
      );
      continue;
    }
    if (terms.action === 'block' && spent + held >= terms.amount) {
      answers.set(move.id, { granted: false, spent, held });
      continue;
    }
    const isIncluded = terms.included !== null && spent + held < terms.included;
    if (move.type === 'hold') tally.hold(move, isIncluded);
    answers.set(move.id, { granted: true, isIncluded, isHeld: move.type === 'hold' });
  }
  return {
    events: [...(tally.isEmpty ? [] : [{ type: 'SpendMoved' as const, data: tally.moved }]), ...tally.reached(terms)],
    answers,
  };
};

type End = Exclude<Move, { type: 'hold' | 'ask' }>;

const isEnd = (move: Move): move is End => move.type === 'settle' || move.type === 'free';

/** An account while moves are decided on it. */
class Tally {
  readonly currency: string;
  readonly moved: SpendMoved;
  private readonly sums = new Map<string | null, { spent: bigint; held: bigint }>();
  private readonly ended = new Set<string>();

  constructor(
    private readonly account: Account,
    currency: string,
  ) {
    this.currency = account.currency ?? currency;
    // From the first move on it knows.
    const news = account.currency === undefined ? { currency } : {};
    this.moved = { ...news, held: [], settled: [], freed: [] };
  }

  get isEmpty(): boolean {
    return this.moved.held.length + this.moved.settled.length + this.moved.freed.length === 0;
  }

  /** The windows whose spending reached the amount of the limit, if that was not reported yet. */
  reached({ amount, action }: Terms): readonly AccountEvent[] {
    const windows = [...this.sums].filter(
      ([window, { spent }]) => spent >= amount && this.account.told.get(window) !== amount,
    );
    return windows.map(([window, { spent }]) => ({
      type: 'SpendLimitReached',
      data: { window, spent: spent.toString(), amount: amount.toString(), action },
    }));
  }

  in(window: string | null): { spent: bigint; held: bigint } {
    let sums = this.sums.get(window);
    if (sums === undefined)
      this.sums.set(window, (sums = { spent: spentIn(this.account, window), held: heldIn(this.account, window) }));
    return sums;
  }

  /** Start of the window of the account's own calendar that a time falls into. */
  windowOf(at: number): string | null {
    const { calendar } = this.account;
    if (calendar === null) throw new Error('an account is opened before anything moves');
    return windowAt(calendar, at).start;
  }

  hold({ id, by, estimate, at, call }: Extract<Move, { type: 'hold' }>, isIncluded: boolean): void {
    const window = this.windowOf(at);
    this.moved.held.push({
      id,
      by,
      amount: estimate.toString(),
      window,
      isIncluded,
      ...(call === undefined ? {} : { call }),
    });
    this.in(window).held += estimate;
  }

  end(move: End): void {
    if (this.ended.has(move.id)) return;
    const hold = this.account.holds.get(move.id);
    const isOther = move.currency !== this.currency;
    const cost = move.cost !== null && (isOther || this.isCounted(move)) ? 0n : move.cost;
    const window =
      move.at === undefined || (move.type === 'free' && hold !== undefined)
        ? (hold?.window ?? null)
        : this.windowOf(move.at);
    if (hold === undefined && !this.isNews(move, cost, window)) return;
    if (move.type === 'settle') this.moved.settled.push({ id: move.id, cost: String(cost), window });
    else
      this.moved.freed.push({
        id: move.id,
        cost: cost === null ? null : cost.toString(),
        ...(hold === undefined ? { window } : {}),
      });
    this.in(window).spent += cost ?? 0n;
    if (hold !== undefined) this.in(hold.window).held -= hold.amount;
    this.ended.add(move.id);
  }

  private isCounted({ type, id, position }: End): boolean {
    const { upTo, ended } = this.account;
    return (position !== null && upTo !== null && position <= upTo) || (type === 'free' && ended.includes(id));
  }

  /**
   * If a call has no reservation here, only its cost matters; a window that closed long ago is only in usage records.
   */
  private isNews({ id, at }: End, cost: bigint | null, window: string | null): boolean {
    const { freed, ended, windows } = this.account;
    return at !== undefined && !ended.includes(id) && (freed.includes(id) || cost !== 0n) && isOpen(windows, window);
  }
}

/** An earlier window is kept for a while: clocks differ. */
const isOpen = (windows: Account['windows'], window: string | null): boolean =>
  windows.has(window) || [...windows.keys()].every((start) => (start ?? '') < (window ?? ''));
