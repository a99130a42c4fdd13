import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@app/kernel';
import type { Client } from '@elastic/elasticsearch';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** Transient overload: full queues, tripped circuit breakers, nodes that come and go. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The server rejects every request: wrong credentials, or read-only. */
const CLOSED: ReadonlySet<number> = new Set([401, 403]);

/** Somebody closed an index on the server: it is neither read nor written, and its content stays on the disk. */
export const CLOSED_INDEX = 'an index is closed in Elasticsearch; open it';

/** The server rejects a request as invalid. Leaves out its reason, which may quote content. */
export class Rejection extends Error {
  override readonly name = 'Rejection';

  constructor(
    readonly status: number,
    /** The type of the error, such as `version_conflict_engine_exception`. */
    readonly type: string,
  ) {
    super(`Elasticsearch answered ${status} ${type}`);
  }
}

export const isRejection = (error: unknown, status: number): boolean =>
  error instanceof Rejection && error.status === status;

export interface CallOptions {
  /** Deadline of one request. */
  readonly timeoutMs: number;
  /** Retry a busy server for this long; by default not at all. */
  readonly retryMs?: number;
}

/** Calls Elasticsearch with a deadline. Throws `Unavailable` or a `Rejection`, without anything that the server quotes. */
export class Server {
  constructor(private readonly client: Client) {}

  async call<T>(
    { timeoutMs, retryMs = 0 }: CallOptions,
    request: (client: Client, options: { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const backoff = new Backoff(retryMs);
    for (let attempt = 1; ; attempt += 1) {
      // The client's timeout covers only the start of an answer; one that stalls would never end.
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return await request(this.client, { signal });
      } catch (error) {
        if (signal.aborted) throw new Unavailable('search', 'Elasticsearch did not answer in time', 'unknown');
        const failure = failureOf(error);
        // A kept-alive connection may have been closed. Every call may be repeated.
        if (failure instanceof Unreachable && attempt === 1) continue;
        if (!(failure instanceof Busy) || !(await backoff.pause())) throw failure;
      }
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** True if one of some indexes is closed. A closed index is healthy for the server, and calls to many pass it over. */
export const hasClosed = async (server: Server, call: CallOptions, indexes: string): Promise<boolean> => {
  const { indices } = await server.call(call, (client, options) =>
    client.indices.resolveIndex({ name: indexes, expand_wildcards: ['closed', 'hidden'] }, options),
  );
  return indices.length > 0;
};

/**
 * Waits with growing, random pauses, so that many writers do not return at once. Our own: the driver counts its repeats, and bounds
 * no time; and a bulk request repeats only the items that were rejected, which the driver does not see.
 */
export class Backoff {
  private readonly started = performance.now();
  private next = FIRST_PAUSE_MS;

  constructor(private readonly retryMs: number) {}

  /** False when the time is up. */
  async pause(): Promise<boolean> {
    if (performance.now() - this.started + this.next > this.retryMs) return false;
    await pause(this.next * (0.5 + Math.random() / 2));
    this.next = Math.min(this.next * 2, LONGEST_PAUSE_MS);
    return true;
  }
}

/** Turns an error status into the error that the caller gets. */
export const failureOfStatus = (status: number, type: string): Unavailable | Rejection => {
  if (type === 'index_closed_exception') return new Unavailable('search', CLOSED_INDEX);
  if (BUSY.has(status)) return new Busy('search', `Elasticsearch is busy: ${status} ${type}`);
  if (CLOSED.has(status)) return new Unavailable('search', `Elasticsearch does not serve this: ${status} ${type}`);
  return status >= 500
    ? new Unavailable('search', `Elasticsearch failed: ${status} ${type}`, 'unknown')
    : new Rejection(status, type);
};

class Busy extends Unavailable {}
class Unreachable extends Unavailable {}

/** Compares by name, since the driver is loaded only when needed. */
const failureOf = (error: unknown): Error => {
  if (!(error instanceof Error)) return new Error('The request to Elasticsearch failed');
  switch (error.name) {
    case 'ResponseError': {
      const { statusCode = 0, body } = error as {
        readonly statusCode?: number;
        readonly body?: { readonly error?: { readonly type?: string } };
      };
      return failureOfStatus(statusCode, body?.error?.type ?? 'without a type');
    }
    case 'ConnectionError':
    case 'NoLivingConnectionsError':
      return new Unreachable('search', 'Elasticsearch cannot be reached', 'unknown');
    case 'ProductNotSupportedError':
    case 'DeserializationError':
      return new Unavailable('search', 'what answers is not Elasticsearch');
    default:
      return error;
  }
};
