import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  EventStoreDBClient,
  type AllStreamSubscription,
  type AppendToStreamOptions,
  type EventData,
  jsonEvent,
  NO_STREAM,
  type ReadStreamOptions,
  type StreamSubscription,
} from '@eventstore/db-client';
import { failureOf, type Scrub, scrubber } from './scrubbing';

/** Cases by their names in the transcript, in order. */
export type Cases = Readonly<Record<string, () => Promise<unknown>>>;

export type Expected = AppendToStreamOptions['expectedRevision'];
type Listener = StreamSubscription | AllStreamSubscription;

/** What the cases are told with: one client, streams of its own, and outcomes without what varies. */
export class Probe {
  readonly client: EventStoreDBClient;
  readonly run = randomUUID().slice(0, 8);
  readonly scrub: Scrub = scrubber(this.run);
  private serial = 0;

  /** Where nothing is expected to come, waits last their nominal time divided by `haste`: a double has nothing to wait for. */
  constructor(
    readonly connection: string,
    private readonly haste: number,
  ) {
    this.client = EventStoreDBClient.connectionString(connection);
  }

  /** A stream name that nobody has used. */
  fresh(hint = 's'): string {
    return `probe-${this.run}-${hint}${(this.serial += 1)}`;
  }

  append(stream: string, events: EventData | EventData[], expected?: Expected, options: AppendToStreamOptions = {}) {
    return this.client.appendToStream(stream, events, {
      ...(expected === undefined ? {} : { expectedRevision: expected }),
      ...options,
    });
  }

  /** A new stream of so many events. */
  async filled(count = 3): Promise<string> {
    const stream = this.fresh();
    await this.append(
      stream,
      Array.from({ length: count }, (_, i) => event(undefined, { i })),
      NO_STREAM,
    );
    return stream;
  }

  async revisions(stream: string, options: ReadStreamOptions = {}): Promise<number[]> {
    const events = await collect(this.client.readStream(stream, options));
    return events.map((resolved) => Number(resolved.event?.revision ?? resolved.link?.revision));
  }

  /** What came of it, success or failure. */
  outcome(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(this.scrub, (error: unknown) => this.scrub(failureOf(error)));
  }

  pause(nominalMs: number): Promise<void> {
    return pause(nominalMs / this.haste);
  }

  /** Waits for something to become true, at most so long. */
  async until(isTrue: () => boolean, mostMs: number): Promise<void> {
    for (const from = performance.now(); !isTrue() && performance.now() - from < mostMs;) await pause(5);
  }

  /** Fails when the promise takes longer: for what is never answered. */
  async within(promise: Promise<unknown>, nominalMs: number): Promise<unknown> {
    const late = this.pause(nominalMs).then(() =>
      Promise.reject(Object.assign(new Error(`no answer in ${nominalMs} ms`), { type: 'PROBE_TIMEOUT' })),
    );
    return Promise.race([promise, late]);
  }

  /** Everything a subscription says until so many events came, the time is up, or it fails. Where none are to come, the time is nominal. */
  listen(
    subscription: Listener,
    wanted: number,
    { onCaughtUp, ms = 8000, isQuiet = false }: Listening = {},
  ): Promise<Heard> {
    return new Promise((resolve) => {
      const log: unknown[][] = [];
      const state = { isOver: false, hasCaughtUp: false };
      const finish = async (why: string): Promise<void> => {
        if (state.isOver) return;
        state.isOver = true;
        await subscription
          .unsubscribe()
          .catch((error: unknown) => log.push(['unsubscribe', failureOf(error)['error']]));
        await this.until(() => log.some(([kind]) => kind === 'close'), why === 'error' ? 100 : 2000);
        resolve({ log, why });
      };
      void (isQuiet ? this.pause(ms) : pause(ms)).then(() => finish('time'));
      subscription.on('data', ({ event: heard }) => {
        if (heard === undefined || heard.streamId.includes(this.run))
          log.push(['event', Number(heard?.revision ?? -1)]);
        if (log.filter(([kind]) => kind === 'event').length >= wanted) void finish('enough');
      });
      const say = (kind: string): unknown =>
        state.isOver && kind !== 'end' && kind !== 'close' ? undefined : log.push([kind]);
      subscription.on('confirmation', () => say('confirmation'));
      subscription.on('fellBehind', () => say('fellBehind'));
      subscription.on('end', () => say('end'));
      subscription.on('close', () => say('close'));
      subscription.on('caughtUp', () => {
        say('caughtUp');
        if (!state.hasCaughtUp) void onCaughtUp?.();
        state.hasCaughtUp = true;
      });
      subscription.on('error', (error) => {
        log.push(['error', this.scrub(failureOf(error))]);
        void finish('error');
      });
    });
  }
}

export interface Listening {
  readonly onCaughtUp?: () => Promise<unknown>;
  readonly ms?: number;
  readonly isQuiet?: boolean;
}

export interface Heard {
  readonly log: readonly (readonly unknown[])[];
  readonly why: string;
}

export const event = (id: string = randomUUID(), data: Record<string, unknown> = { n: 1 }, type = 'Probed') =>
  jsonEvent({ id, type, data });

export const collect = async <Item>(items: AsyncIterable<Item>, most = 1000): Promise<Item[]> => {
  const found: Item[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length >= most) break;
  }
  return found;
};
