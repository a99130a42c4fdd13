import { canonicalJson, inReadScope, type Position } from '@app/kernel';
import type { LimitScope } from '../limits/limit.events';
import { windowAt } from '../windows';
import { AccountStream, type AccountStreamParts } from './account-stream';
import { type Account, heldIn, spentIn } from './account';
import type { Calendar } from './account.events';
import { DeadHolds, type DeadHoldsParts } from './dead-holds';
import { type Answer, decideMoves, type Move, type Terms } from './moves';

/** Moves that one event tells of at most. */
const BATCH = 500;
/**
 * How long moves are collected when several calls began together and more are expected: one event for many costs less
 * than many for few.
 */
const GATHERED_MS = 4;

/** A limit as accounts need it. */
export interface AccountLimit {
  readonly id: string;
  readonly scope: LimitScope;
  readonly terms: Terms;
  readonly calendar: Calendar;
  /** Of its amounts; undefined where the account alone knows it. */
  readonly currency: string | undefined;
}

export interface AccountParts extends AccountStreamParts, DeadHoldsParts {
  /** Of the platform. */
  readonly currency: string;
  /**
   * The spending of a scope since a time (null: ever) in a currency, and the position of the log up to which it is
   * known.
   */
  readonly spentSince: (
    scope: LimitScope,
    start: string | null,
    currency: string,
  ) => Promise<{ readonly spent: bigint; readonly upTo: Position | null }>;
}

interface Waiting {
  /** Undefined: the caller only wants to know the state of the account. */
  readonly move: Move | undefined;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The present state of an account. Amounts are nano-units. */
export interface LimitState {
  readonly start: string | null;
  readonly resetsAt: string | null;
  readonly spent: bigint;
  readonly held: bigint;
  readonly holds: Account['holds'];
  /** Of the amounts. */
  readonly currency: string;
}

/**
 * The account of one limit in this process: moves that arrive while others are written are decided together, in one
 * event.
 */
export class OpenAccount {
  private readonly stream: AccountStream;
  private waiting: Waiting[] = [];
  private isRunning = false;
  private readonly deadHolds: DeadHolds;

  constructor(
    private readonly parts: AccountParts,
    private limit: AccountLimit,
  ) {
    this.stream = new AccountStream(parts, limit.id);
    this.deadHolds = new DeadHolds(parts);
  }

  /**
   * Resolves when the move is in the log; for reservations and questions, with the answer. `limit`: its present terms,
   * or those at the beginning of a call that ended at no cost. Only a beginning call may bring another calendar.
   */
  move(limit: AccountLimit, move: Move | undefined): Promise<Answer | undefined> {
    if (isBeginning(move)) this.limit = limit;
    else if (move?.type === 'settle' && move.cost > 0n) this.limit = { ...this.limit, terms: limit.terms };
    const asked = new Promise<Answer | undefined>((resolve, reject) => this.waiting.push({ move, resolve, reject }));
    if (!this.isRunning) void this.run();
    return asked;
  }

  /** The state of the account after freeing the reservations of dead processes. */
  async state(limit: AccountLimit): Promise<LimitState> {
    await this.move(limit, undefined);
    const { start, resetsAt } = windowAt(limit.calendar, this.parts.clock.now().getTime());
    const { state } = this.stream;
    return {
      start,
      resetsAt,
      spent: spentIn(state, start),
      held: heldIn(state, start),
      holds: state.holds,
      currency: this.currency,
    };
  }

  /** Of all that the account adds. */
  private get currency(): string {
    return this.stream.state.currency ?? this.limit.currency ?? this.parts.currency;
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    // What asks in the same turn is decided together.
    await Promise.resolve();
    for (let begun = 0; this.waiting.length > 0;) {
      if (begun > 1 && this.waiting.length < BATCH) await new Promise((resolve) => setTimeout(resolve, GATHERED_MS));
      const batch = this.waiting.splice(0, BATCH);
      begun = batch.filter(({ move }) => isBeginning(move)).length;
      try {
        // This run began with the first caller; later callers need an answer of their own.
        const answers = await inReadScope(() =>
          this.decided(
            batch.flatMap(({ move }) => move ?? []),
            begun > 0,
          ),
        );
        for (const { move, resolve } of batch) resolve(move && answers.get(move.id));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }

  private async decided(moves: readonly Move[], anew: boolean): Promise<ReadonlyMap<string, Answer>> {
    for (;;) {
      await this.stream.advance();
      if (!(await this.opened(anew))) continue;
      const ends = await this.deadHolds.moves(this.stream.state.holds);
      // The event would be too large with the question: some calls end before it.
      const isMany = ends.length > BATCH;
      const { events, answers } = decideMoves(
        this.stream.state,
        this.limit.terms,
        isMany ? ends.slice(0, BATCH) : [...ends, ...moves],
        this.currency,
      );
      const isWritten = events.length === 0 || (await this.stream.record(events));
      if (isWritten && !isMany) return answers;
    }
  }

  /** Opens the account, or reopens it (`anew`) if the limit uses another calendar; false if others did meanwhile. */
  private async opened(anew: boolean): Promise<boolean> {
    const { calendar, scope } = this.limit;
    const state = this.stream.state.calendar;
    if (state !== null && (!anew || canonicalJson(state) === canonicalJson({ ...calendar }))) return true;
    const { start } = windowAt(calendar, this.parts.clock.now().getTime());
    // A limit that is set anew is one of the platform's currency; another calendar changes none.
    const isAnew = state?.ordinal !== calendar.ordinal;
    const currency = isAnew ? (this.limit.currency ?? this.parts.currency) : this.currency;
    const { spent, upTo } = await this.parts.spentSince(scope, start, currency);
    const data = { calendar: { ...calendar }, currency, window: start, spent: spent.toString(), upTo };
    return this.stream.record([{ type: 'SpendAccountOpened', data }]);
  }
}

const isBeginning = (move: Move | undefined): boolean =>
  move === undefined || move.type === 'hold' || move.type === 'ask';
