import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Clock,
  errorName,
  type Facts,
  inTime,
  isDomainError,
  type Json,
  type Logger,
  type Plain,
  reject,
  retryUntilAnswered,
  Unavailable,
  unlessLeft,
} from '@app/kernel';
import { allEntries, type CoordinationStore } from './coordination-store';

const PREFIX = 'request/';
const SERVE_EVERY_MS = 500;
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 200;
/** How long somebody may take to take a request up and answer. */
const TIMEOUT_MS = 30_000;
/** How long whoever has the answer waits until its request is removed. */
const REMOVE_MS = 1_000;
/** What nobody can wait for any more is removed, whatever the clocks of the processes say. */
const KEPT_MS = 5 * 60_000;

/** Something that only the holder of a unit of shared work can do. */
export interface Ask {
  readonly group: string;
  readonly unit: number;
  readonly action: string;
  readonly given: Json;
}

type Answer =
  { readonly value: Json } | { readonly rejected: string; readonly facts: Facts } | { readonly failed: string };

interface Stored extends Ask {
  /** When it was asked, milliseconds. */
  readonly at: number;
  readonly answer?: Answer;
}

export interface RequestsOptions {
  readonly store: CoordinationStore;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Carries out a request, or answers undefined where its unit is held by another process. */
export type Server = (ask: Ask) => Promise<{ readonly value: Json } | undefined>;

/** What a process asks of whichever process holds a unit: requests and answers stand beside the views. */
export class Requests {
  private readonly underWay = new Set<string>();
  private readonly servers = new Set<Server>();
  private timer: NodeJS.Timeout | undefined;
  private serving: Promise<void> | undefined;

  constructor(private readonly options: RequestsOptions) {}

  /** Waits for the answer, also while the store is away. Rejects as the holder rejected; throws `Unavailable` with the outcome `unknown` when nobody answers in time. */
  async ask(ask: Ask): Promise<Json> {
    const { store, clock } = this.options;
    const key = PREFIX + randomUUID();
    await store.write(key, { ...ask, at: clock.now().getTime() });
    const deadline = performance.now() + TIMEOUT_MS;
    try {
      for (let poll = FIRST_POLL_MS; performance.now() < deadline; poll = Math.min(LONGEST_POLL_MS, poll * 2)) {
        await pause(poll);
        const { answer } = ((await unlessLeft(() => store.read(key))) ?? {}) as Partial<Stored>;
        if (answer !== undefined) return given(answer, ask.group);
      }
      throw new Unavailable(ask.group, 'the owning process did not answer', 'unknown');
    } finally {
      // What cannot be removed now is swept, and changes no answer.
      await inTime(
        REMOVE_MS,
        unlessLeft(() => store.write(key, null)),
      );
    }
  }

  /** Serves the requests for what this process holds, until the returned function is called. */
  serve(server: Server): () => Promise<void> {
    this.servers.add(server);
    this.timer ??= setInterval(() => void this.look(), SERVE_EVERY_MS).unref();
    return async () => {
      this.servers.delete(server);
      if (this.servers.size === 0) clearInterval(this.timer);
      if (this.servers.size === 0) this.timer = undefined;
      await this.serving;
    };
  }

  private look(): Promise<void> {
    this.serving ??= this.sweep()
      .catch((error: unknown) =>
        this.options.logger.warn({ error: errorName(error) }, 'Reading requests of other processes failed; retrying.'),
      )
      .finally(() => (this.serving = undefined));
    return this.serving;
  }

  private async sweep(): Promise<void> {
    const { store, clock, logger } = this.options;
    for (const { key, value } of await allEntries((options) => store.list(PREFIX, options))) {
      const stored = value as Plain<Stored>;
      if (stored.at + KEPT_MS < clock.now().getTime()) await store.write(key, null, { expected: value });
      else if (stored.answer === undefined && !this.underWay.has(key)) {
        this.underWay.add(key);
        void this.answer(key, value, stored)
          .catch((error: unknown) =>
            logger.warn(
              { group: stored.group, action: stored.action, error: errorName(error) },
              'Answering a request of another process failed.',
            ),
          )
          .finally(() => this.underWay.delete(key));
      }
    }
  }

  private async answer(key: string, value: Json, stored: Stored): Promise<void> {
    const answer = await answerOf(() => this.served(stored));
    // Until it is written the request is not served again: it would be done twice.
    if (answer !== undefined)
      await retryUntilAnswered(() => this.options.store.write(key, { ...stored, answer }, { expected: value }));
  }

  private async served(ask: Ask): Promise<{ readonly value: Json } | undefined> {
    for (const server of this.servers) {
      const answer = await server(ask);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }
}

const answerOf = async (serve: () => Promise<{ readonly value: Json } | undefined>): Promise<Answer | undefined> => {
  try {
    return await serve();
  } catch (error) {
    return isDomainError(error) ? { rejected: error.code, facts: error.facts } : { failed: errorName(error) };
  }
};

const given = (answer: Answer, group: string): Json => {
  if ('rejected' in answer) return reject(answer.rejected, answer.facts);
  if ('failed' in answer)
    throw new Unavailable(group, `the process that holds it failed with ${answer.failed}`, 'unknown');
  return answer.value;
};
