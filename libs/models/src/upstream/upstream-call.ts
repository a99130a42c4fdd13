import { setTimeout as pause } from 'node:timers/promises';
import type { ModelDescription } from '../catalogue';
import { NOTICE_MS } from '../output-rates';
import type { CircuitBreaker } from './circuit-breaker';
import type { Exchange } from './exchange';
import { failureOf, isUpstreamFailure, UpstreamFailure, type UpstreamWork } from './failure';
import { rejectionOf } from './rejection';
import type { Operation, Upstream, UpstreamBody } from './upstream';

/** A model and the provider that runs it. */
export interface Route {
  readonly model: ModelDescription;
  readonly upstream: Upstream;
}

/** One try to get an answer of one model. */
export interface Attempt {
  readonly route: Route;
  /** Asks the provider. Resolves with the head of an answer with 2xx, which may still turn out to be none; rejects with an `UpstreamFailure`. */
  readonly send: (operation: Operation, body: UpstreamBody) => Promise<Exchange>;
  /** To be called as soon as it shows whether it is an answer: only the first report counts. What is one is billed, however it ends. */
  readonly report: (failure?: UpstreamFailure) => void;
}

/** Asks, and reads the answer. Rejects with an `UpstreamFailure` while another may still take its place. */
export type Attempting<T> = (attempt: Attempt) => Promise<T>;

/** Tries of one model: the first and its repetitions. */
const ATTEMPTS = 3;
/** Longest pause before the first repetition, milliseconds; the next one may take twice as long. */
const PAUSE_MS = 200;

/**
 * A call of the first route that answers: the model asked for, then its fallback. What may pass is repeated after a random
 * pause, and nothing is once somebody has a word of an answer. `abort` reaches the provider at once.
 *
 * Our own rather than cockatiel's policies: there a call that waits behind the try of an open circuit waits as long as that one, a
 * rejection or a caller who left closes the circuit, and a stream succeeds only with its end; and what a provider bills for answers
 * that broke off is counted here, over repeats and fallbacks.
 */
export class UpstreamCall {
  private exchange: Exchange | undefined;
  private asked: ModelDescription | null = null;
  private deadline: NodeJS.Timeout | undefined;
  private over: UpstreamFailure | undefined;
  /** The work that was broken off, no matter by whom: its provider bills it. */
  private brokenOff: UpstreamWork | undefined;
  /** Whether the exchange has shown that it is an answer. */
  private hasBegun = false;
  /** Which route is asked, and how many tries it has had. */
  private at = 0;
  private made = 0;

  /** `onBrokenOff`: waited for before another try, where one broke off that its provider bills; then the failure of the whole call tells of it no more. */
  constructor(
    private readonly routes: readonly Route[],
    private readonly onBrokenOff?: (failure: UpstreamFailure) => Promise<void>,
  ) {}

  /** What the first attempt comes to that succeeds. Rejects with an `UpstreamFailure`. */
  async answer<T>(attempting: Attempting<T>): Promise<T> {
    let last: UpstreamFailure | undefined;
    for (let route = this.routes[this.at]; route !== undefined; route = this.next()) {
      try {
        return await this.guarded(route, attempting);
      } catch (error) {
        if (!isUpstreamFailure(error)) throw error;
        last = error;
        if (!error.allowsFallback || this.at + 1 >= this.routes.length) break;
        await this.account(error);
      }
    }
    throw this.withWork(last ?? new UpstreamFailure('broken'));
  }

  /** Whether another answer may take the place of one that had begun and `broken` says how it ended. */
  mayAgain(failure: UpstreamFailure): boolean {
    return this.repeats(failure) || (failure.allowsFallback && this.at + 1 < this.routes.length);
  }

  /** Another answer in place of one that had begun, of which nobody has a word. What its provider bills is with the failure, and told no more. */
  async again<T>(failure: UpstreamFailure, attempting: Attempting<T>): Promise<T> {
    this.brokenOff = undefined;
    if (this.repeats(failure)) await this.pause();
    else this.next();
    return this.answer(attempting);
  }

  /** Nobody waits for the answer any more. `madeBy`: when it was whole, by `performance.now()`, where only its usage was missing. */
  abort(madeBy?: number): void {
    this.end('aborted', madeBy);
  }

  /** To be called when the answer was read. */
  done(): void {
    clearTimeout(this.deadline);
    this.deadline = undefined;
  }

  /** What ends a call whose answer had begun: the error, with what its provider had made by then. */
  broken(error: unknown): UpstreamFailure {
    const failure = failureOf(error);
    const { exchange, asked } = this;
    if (exchange !== undefined && asked !== null && failure.facts.work === undefined) this.brokeOff(asked, exchange.ms);
    exchange?.abort(new UpstreamFailure('broken'));
    return failure.facts.work === undefined ? this.withWork(failure) : failure;
  }

  private async account(failure: UpstreamFailure): Promise<void> {
    const told = this.withWork(failure);
    if (told.facts.work === undefined || this.onBrokenOff === undefined) return;
    this.brokenOff = undefined;
    await this.onBrokenOff(told);
  }

  private repeats(failure: UpstreamFailure): boolean {
    return failure.passing && this.made < ATTEMPTS;
  }

  private pause(): Promise<void> {
    return pause(Math.random() * PAUSE_MS * this.made);
  }

  private next(): Route | undefined {
    this.done();
    [this.at, this.made] = [this.at + 1, 0];
    return this.routes[this.at];
  }

  private end(kind: 'aborted' | 'timeout', madeBy?: number): void {
    this.done();
    const { exchange, asked } = this;
    if (exchange?.isAnswering === true && asked !== null)
      this.brokeOff(asked, madeBy === undefined ? exchange.ms + NOTICE_MS : madeBy - exchange.sentAt);
    const reason = this.withWork(new UpstreamFailure(kind));
    // Who left behind a deadline wants no fallback either.
    if (this.over?.kind !== 'aborted') this.over = reason;
    this.exchange?.abort(reason);
  }

  private brokeOff(model: ModelDescription, ms: number): void {
    const before = this.brokenOff?.model === model ? this.brokenOff.ms : 0;
    this.brokenOff = { model, ms: before + ms };
  }

  private withWork(failure: UpstreamFailure): UpstreamFailure {
    return this.brokenOff === undefined
      ? failure
      : new UpstreamFailure(failure.kind, { ...failure.facts, work: this.brokenOff });
  }

  private async guarded<T>(route: Route, attempting: Attempting<T>): Promise<T> {
    const { description } = route.upstream;
    const breaker = route.upstream.breaker(route.model.kind);
    if (this.over !== undefined && this.over.kind !== 'timeout') throw this.over;
    if (!breaker.admit())
      throw new UpstreamFailure('open', { retryAfterSeconds: Math.ceil(breaker.waitMs / 1000) || 1 });
    this.over = undefined;
    this.deadline ??= setTimeout(() => this.end('timeout'), description.timeoutMs);
    const reportToBreaker = reportOnce(breaker);
    const report: Attempt['report'] = (failure) => {
      this.hasBegun ||= failure === undefined;
      reportToBreaker(failure);
    };
    try {
      const result = await this.repeated(
        { route, send: (operation, body) => this.send(route, operation, body), report },
        attempting,
      );
      report();
      return result;
    } catch (error) {
      this.done();
      reportToBreaker(error);
      throw error;
    }
  }

  private async repeated<T>(attempt: Attempt, attempting: Attempting<T>): Promise<T> {
    for (;;) {
      this.made += 1;
      try {
        return await this.once(attempt, attempting);
      } catch (error) {
        if (!isUpstreamFailure(error) || !this.repeats(error)) throw error;
        await this.account(error);
      }
      await this.pause();
    }
  }

  private async once<T>(attempt: Attempt, attempting: Attempting<T>): Promise<T> {
    if (this.over !== undefined) throw this.over;
    this.exchange = undefined;
    this.hasBegun = false;
    try {
      return await attempting(attempt);
    } catch (error) {
      // Set by `send`.
      const exchange = this.exchange as Exchange | undefined;
      const isBilled = isUpstreamFailure(error) && error.facts.work !== undefined;
      const isMade = exchange !== undefined && (exchange.isCut || this.hasBegun);
      if (isMade && this.over === undefined && !isBilled) this.brokeOff(attempt.route.model, exchange.ms);
      exchange?.abort(new UpstreamFailure('broken'));
      throw error;
    }
  }

  private async send({ model, upstream }: Route, operation: Operation, body: UpstreamBody): Promise<Exchange> {
    const exchange = upstream.send(model, operation, body);
    this.exchange = exchange;
    this.asked = model;
    await exchange.started;
    if (exchange.status < 200 || exchange.status >= 300) throw await rejectionOf(exchange, operation);
    return exchange;
  }
}

/** Tells a breaker how a call ended, once. What is not the provider's fault says nothing about it: neither a rejection nor a caller who left. */
const reportOnce = (breaker: CircuitBreaker): ((failure?: unknown) => void) => {
  let reported = false;
  return (failure) => {
    if (reported) return;
    reported = true;
    if (failure === undefined) breaker.succeeded();
    else if (isUpstreamFailure(failure) && failure.isProviders) breaker.failed();
    else breaker.undecided();
  };
};
