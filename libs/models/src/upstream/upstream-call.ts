import { setTimeout as delay } from 'node:timers/promises';
import type { ModelDescription } from '../catalogue';
import type { Exchange } from './exchange';
import { isUpstreamFailure, UpstreamFailure } from './failure';
import { rejectionOf } from './rejection';
import type { Operation, Upstream } from './upstream';

/** A model and the provider that runs it. */
export interface Route {
  readonly model: ModelDescription;
  readonly upstream: Upstream;
}

/** Tries of one model: the first and its repetitions. */
const ATTEMPTS = 3;
/** Longest pause before the first repetition, milliseconds; the next one may take twice as long. */
const PAUSE_MS = 200;

/**
 * A call of the first route that answers: the model asked for, then its fallback. What may pass is repeated after a random
 * pause, and nothing is once an answer has begun. `abort` reaches the provider at once.
 */
export class UpstreamCall {
  private exchange: Exchange | undefined;
  private deadline: NodeJS.Timeout | undefined;
  private over: UpstreamFailure | undefined;

  /** `bodyOf` makes the request for a route. */
  constructor(
    private readonly routes: readonly Route[],
    private readonly operation: Operation,
    private readonly bodyOf: (route: Route) => string,
  ) {}

  /** The model that answers with 2xx, and its answer. Rejects with an `UpstreamFailure`. */
  async answer(): Promise<{ readonly model: ModelDescription; readonly exchange: Exchange }> {
    let last: UpstreamFailure | undefined;
    for (const route of this.routes) {
      try {
        return { model: route.model, exchange: await this.guarded(route) };
      } catch (error) {
        if (!isUpstreamFailure(error)) throw error;
        last = error;
        if (!error.allowsFallback) break;
      }
    }
    throw last ?? new UpstreamFailure('broken');
  }

  /** Nobody waits for the answer any more. */
  abort(): void {
    this.end(new UpstreamFailure('aborted'));
  }

  /** The provider's answer makes no sense, and is not read to its end. */
  breakOff(): void {
    this.end(new UpstreamFailure('broken'));
  }

  /** To be called when the answer was read. */
  done(): void {
    clearTimeout(this.deadline);
  }

  private end(reason: UpstreamFailure): void {
    clearTimeout(this.deadline);
    this.over ??= reason;
    this.exchange?.abort(reason);
  }

  private async guarded(route: Route): Promise<Exchange> {
    const { breaker, description } = route.upstream;
    if (this.over !== undefined && this.over.kind !== 'timeout') throw this.over;
    if (!breaker.admit()) throw new UpstreamFailure('open', { retryAfterSeconds: Math.ceil(breaker.waitMs / 1000) || 1 });
    this.over = undefined;
    this.deadline = setTimeout(() => this.end(new UpstreamFailure('timeout')), description.timeoutMs);
    try {
      const exchange = await this.repeated(route);
      breaker.succeeded();
      return exchange;
    } catch (error) {
      clearTimeout(this.deadline);
      if (isUpstreamFailure(error) && error.isProviders) breaker.failed();
      else if (isUpstreamFailure(error) && error.kind === 'aborted') breaker.undecided();
      else breaker.succeeded();
      throw error;
    }
  }

  private async repeated(route: Route): Promise<Exchange> {
    const body = this.bodyOf(route);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.once(route, body);
      } catch (error) {
        if (!isUpstreamFailure(error) || !error.passing || attempt === ATTEMPTS) throw error;
      }
      await delay(Math.random() * PAUSE_MS * attempt);
    }
  }

  private async once(route: Route, body: string): Promise<Exchange> {
    if (this.over !== undefined) throw this.over;
    const exchange = route.upstream.send(route.model, this.operation, body);
    this.exchange = exchange;
    await exchange.started;
    if (exchange.status >= 200 && exchange.status < 300) return exchange;
    throw await rejectionOf(exchange);
  }
}
