import { setTimeout as delay } from 'node:timers/promises';
import type { ModelDescription } from '../catalogue';
import { NOTICE_MS } from '../output-rates';
import type { CircuitBreaker } from './circuit-breaker';
import type { Exchange } from './exchange';
import { isUpstreamFailure, UpstreamFailure, type UpstreamWork } from './failure';
import { rejectionOf } from './rejection';
import type { Operation, Upstream } from './upstream';

/** A model and the provider that runs it. */
export interface Route {
  readonly model: ModelDescription;
  readonly upstream: Upstream;
}

/** A provider's answer with 2xx, which may still turn out to be none. */
export interface UpstreamAnswer {
  readonly model: ModelDescription;
  readonly exchange: Exchange;
  /** To be called as soon as it shows whether it is an answer: only the first report counts. */
  readonly report: (failure?: UpstreamFailure) => void;
}

/** Reads an answer. Rejects with an `UpstreamFailure` while another may still take its place. */
export type AnswerReader<T> = (answer: UpstreamAnswer) => Promise<T>;

/** Tries of one model: the first and its repetitions. */
const ATTEMPTS = 3;
/** Longest pause before the first repetition, milliseconds; the next one may take twice as long. */
const PAUSE_MS = 200;

/**
 * A call of the first route that answers: the model asked for, then its fallback. What may pass is repeated after a random
 * pause, and nothing is once a reader has taken an answer. `abort` reaches the provider at once.
 */
export class UpstreamCall {
  private exchange: Exchange | undefined;
  private asked: ModelDescription | null = null;
  private deadline: NodeJS.Timeout | undefined;
  private over: UpstreamFailure | undefined;
  /** What was broken off, by whom ever; its provider bills it. */
  private brokenOff: UpstreamWork | undefined;

  /** `bodyOf` makes the request for a route. */
  constructor(
    private readonly routes: readonly Route[],
    private readonly operation: Operation,
    private readonly bodyOf: (route: Route) => string,
  ) {}

  /** What `read` makes of the first answer that it can read. Rejects with an `UpstreamFailure`. */
  async answer<T>(read: AnswerReader<T>): Promise<T> {
    let last: UpstreamFailure | undefined;
    for (const route of this.routes) {
      try {
        return await this.guarded(route, read);
      } catch (error) {
        if (!isUpstreamFailure(error)) throw error;
        last = error;
        if (!error.allowsFallback) break;
      }
    }
    throw this.withWork(last ?? new UpstreamFailure('broken'));
  }

  /** Nobody waits for the answer any more. */
  abort(): void {
    this.end('aborted');
  }

  /** To be called when the answer was read. */
  done(): void {
    clearTimeout(this.deadline);
  }

  private end(kind: 'aborted' | 'timeout'): void {
    clearTimeout(this.deadline);
    if (this.exchange?.isAnswering === true && this.asked !== null)
      this.brokeOff(this.asked, this.exchange.ms + NOTICE_MS);
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

  private async guarded<T>(route: Route, read: AnswerReader<T>): Promise<T> {
    const { breaker, description } = route.upstream;
    if (this.over !== undefined && this.over.kind !== 'timeout') throw this.over;
    if (!breaker.admit())
      throw new UpstreamFailure('open', { retryAfterSeconds: Math.ceil(breaker.waitMs / 1000) || 1 });
    this.over = undefined;
    this.deadline = setTimeout(() => this.end('timeout'), description.timeoutMs);
    const report = reportOnce(breaker);
    try {
      const result = await this.repeated(route, (exchange) => read({ model: route.model, exchange, report }));
      report();
      return result;
    } catch (error) {
      clearTimeout(this.deadline);
      report(error);
      throw error;
    }
  }

  private async repeated<T>(route: Route, read: (exchange: Exchange) => Promise<T>): Promise<T> {
    const body = this.bodyOf(route);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(route, body, read);
      } catch (error) {
        if (!isUpstreamFailure(error) || !error.passing || attempt === ATTEMPTS) throw error;
      }
      await delay(Math.random() * PAUSE_MS * attempt);
    }
  }

  private async once<T>(route: Route, body: string, read: (exchange: Exchange) => Promise<T>): Promise<T> {
    if (this.over !== undefined) throw this.over;
    const exchange = route.upstream.send(route.model, this.operation, body);
    this.exchange = exchange;
    this.asked = route.model;
    await exchange.started;
    if (exchange.status < 200 || exchange.status >= 300) throw await rejectionOf(exchange, this.operation);
    try {
      return await read(exchange);
    } catch (error) {
      if (exchange.isCut && this.over === undefined) this.brokeOff(route.model, exchange.ms);
      exchange.abort(new UpstreamFailure('broken'));
      throw error;
    }
  }
}

/** Tells a breaker how a call ended, once. What is not the provider's fault says nothing about it: neither a refusal nor a caller who left. */
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
