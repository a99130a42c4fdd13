import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EventLog, Subscription } from '@app/event-log';
import { type AppendResult, isUnavailable, type NewEvent, type StoredEvent } from '@app/kernel';
import { until } from '../../fixtures/until';

interface Appended {
  readonly stream: string;
  readonly id: string;
  readonly answer: AppendResult;
}

/** Milliseconds in which a call is answered or fails while a connection to the server lives, and while none does. */
export const SLOW_MS = 10_000;
export const GONE_MS = 2_000;

/** How long calls may take here: more where a busy machine held this process up for long. */
export class TimeLimit {
  private readonly delay = monitorEventLoopDelay({ resolution: 5 });

  constructor(private readonly milliseconds: number) {
    this.delay.enable();
  }

  /** Milliseconds. */
  get most(): number {
    return this.milliseconds + 2 * (this.delay.max / 1e6);
  }
}

/** Writers and a follower of one log, and what they saw: to be compared with what the log holds in the end. */
export class History {
  readonly acknowledged: Appended[] = [];
  readonly failures: { readonly outcome: string; readonly milliseconds: number }[] = [];
  readonly received: StoredEvent[] = [];
  readonly followErrors: unknown[] = [];
  private readonly category = `fault${randomUUID().replaceAll('-', '')}`;
  private readonly writers: Promise<void>[] = [];
  private readonly subscription: Subscription;
  private readonly limit: TimeLimit;
  private isWriting = true;
  private isAbandoned = false;

  /** `milliseconds`: how long its appends may take to fail. */
  constructor(
    private readonly log: EventLog,
    milliseconds = SLOW_MS,
  ) {
    this.limit = new TimeLimit(milliseconds);
    this.subscription = log.subscribe({
      name: 'history',
      after: null,
      filter: { streamPrefixes: [`${this.category}-`] },
      onEvents: async (events) => void this.received.push(...events),
      onError: (error) => void this.followErrors.push(error),
    });
  }

  /** So many writers, each with a stream of its own. One without an answer sends the same event again, as a caller with its command id does. */
  write(writers: number): void {
    for (let writer = 0; writer < writers; writer += 1) this.writers.push(this.run(`${this.category}-${writer}`));
  }

  /** Ends the writers, each after an answer, and waits until the follower has met all that was acknowledged. */
  async end(): Promise<void> {
    this.isWriting = false;
    await Promise.all(this.writers);
    await until(() => this.received.length >= this.acknowledged.length);
    await this.subscription.stop();
  }

  /** Ends the writers where they are, for a test that failed; a second time, and after `end`, it does nothing. */
  async abandon(): Promise<void> {
    this.isWriting = false;
    this.isAbandoned = true;
    await Promise.all(this.writers);
    await this.subscription.stop();
  }

  /** Everything acknowledged stands in the log where its answer says, once and in order, and nothing else does; the follower met exactly that. */
  async check(): Promise<void> {
    const stored = await readAll(this.log, this.category);
    expect(stored.map(({ id }) => id).toSorted()).toEqual(this.acknowledged.map(({ id }) => id).toSorted());
    const byId = new Map(stored.map((event) => [event.id, event]));
    for (const { stream, id, answer } of this.acknowledged) {
      const event = byId.get(id);
      expect([event?.stream, event?.revision, event?.position]).toEqual([stream, answer.revision, answer.position]);
    }
    for (const stream of new Set(stored.map((event) => event.stream))) {
      const revisions = stored.filter((event) => event.stream === stream).map(({ revision }) => revision);
      expect(revisions).toEqual(revisions.map((_, index) => index));
    }
    expect(this.received.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
  }

  /** Milliseconds that a call may take. */
  get most(): number {
    return this.limit.most;
  }

  /** How long the slowest append took that failed, milliseconds. */
  get slowestFailure(): number {
    return Math.max(0, ...this.failures.map(({ milliseconds }) => milliseconds));
  }

  private async run(stream: string): Promise<void> {
    for (let revision = -1; this.isWriting; revision += 1) {
      const event: NewEvent = { id: randomUUID(), type: 'Noted', data: `{"revision":${revision + 1}}`, metadata: '{}' };
      const answer = await this.settled(stream, event, revision);
      if (answer !== undefined) this.acknowledged.push({ stream, id: event.id, answer });
    }
  }

  private async settled(stream: string, event: NewEvent, revision: number): Promise<AppendResult | undefined> {
    while (!this.isAbandoned) {
      const started = performance.now();
      try {
        return await this.log.append(stream, [event], revision < 0 ? 'noStream' : revision);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        this.failures.push({ outcome: error.outcome, milliseconds: performance.now() - started });
      }
    }
    return undefined;
  }
}

const readAll = async (log: EventLog, category: string): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  const filter = { streamPrefixes: [`${category}-`] };
  for (let page = await log.readAll({ filter }); ; page = await log.readAll({ after: page.next, filter })) {
    events.push(...page.events);
    if (page.end) return events;
  }
};

/** Lets so much time pass while others work: how long a fault lasts is what it is. */
export const lasting = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
