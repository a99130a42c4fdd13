import { setTimeout as pause } from 'node:timers/promises';
import { type EventLog, lastBefore, type LogPage, type Subscription } from '@app/event-log';
import {
  type Clock,
  type DataKey,
  errorName,
  type EventCodec,
  inReadScope,
  isUnavailable,
  isWrongExpectedRevision,
  type Logger,
  Mutex,
  type Position,
  type StoredEvent,
  type Uuid,
} from '@app/kernel';
import { type DeadLetter, describeError, isUnreadable, PoisonEvent } from '../dead-letter';
import type { ProjectingEvents } from '../events';
import { PolicyJournal } from './policy-journal';
import type { Policy } from '../projection';

const NO_KEYS: ReadonlyMap<string, DataKey> = new Map();
const PAGE = 50;
/** Streams that are reacted to at the same time, unless the policy says otherwise. */
const CONCURRENCY = 8;
const MAX_TRIES = 5;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** Record the place after this many events, or this long after the first unrecorded one. */
const RECORD_EVERY = 100;
const RECORD_AFTER_MS = 1_000;
/**
 * Also record the place after this many skipped pages (before the end of the log) or commits (at the end) without
 * events for the policy.
 */
const FAR_PAGES = 10;
const FAR_COMMITS = 1_000;
/** How many pages back the event is looked for whose place is recorded then. */
const PAGES_BACK = 10;

export interface PolicyRunnerOptions {
  readonly policy: Policy;
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ProjectingEvents;
  /** Another instance runs the policy: this one must stop. */
  readonly onFenced: () => void;
}

/** An event that a policy could not react to and tries again. */
export interface PolicyFailure {
  readonly eventId: Uuid;
  readonly type: string;
  readonly stream: string;
  readonly attempts: number;
  readonly detail: string;
}

/** Runs one policy over the log, from its recorded place on. */
export class PolicyRunner {
  private readonly mutex = new Mutex();
  private readonly stopping = new AbortController();
  private subscription: Subscription | undefined;
  private unrecorded = 0;
  /**
   * Pages without an event for the policy: since the end of the log was last reached, and since the place was last
   * recorded.
   */
  private onTheWay = 0;
  private passed = 0;
  private last: StoredEvent | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly failing = new Map<string, PolicyFailure>();

  private constructor(
    private readonly options: PolicyRunnerOptions,
    private readonly journal: PolicyJournal,
    private readonly parked: Map<string, DeadLetter>,
    private reached: Position | null,
  ) {}

  static async start(options: PolicyRunnerOptions): Promise<PolicyRunner> {
    const journal = new PolicyJournal(options.policy.name, options.log, options.codec, options.clock);
    const runner = new PolicyRunner(options, journal, await journal.letters(), await journal.place());
    runner.subscribe();
    return runner;
  }

  get position(): Position | null {
    return this.reached;
  }

  /** The event that has been tried most often, while it is. */
  get failure(): PolicyFailure | undefined {
    return [...this.failing.values()].toSorted((one, other) => other.attempts - one.attempts)[0];
  }

  get letters(): readonly DeadLetter[] {
    return [...this.parked.values()];
  }

  /** Lets the reactions under way end, and records the place. */
  async stop(): Promise<void> {
    this.stopping.abort();
    clearTimeout(this.timer);
    await this.subscription?.stop();
    await this.mutex
      .run(() => this.record())
      .catch((error: unknown) =>
        this.options.logger.warn(
          { policy: this.name, error: errorName(error) },
          'Recording the last place of a policy failed. It will handle the same events again.',
        ),
      );
  }

  /** Reacts to a dead letter's event and to what waits behind it; `discard` passes over the event itself. */
  replay(letter: DeadLetter, { discard }: { readonly discard: boolean }): Promise<DeadLetter | undefined> {
    return this.mutex.run(async () => {
      const present = this.parked.get(letter.stream);
      if (present?.eventId !== letter.eventId) return present;
      const stream = await this.options.log.readStream(letter.stream, { from: letter.revision + (discard ? 1 : 0) });
      const waiting = stream.filter(
        (event) =>
          this.options.policy.types.includes(event.type) && this.reached !== null && event.position <= this.reached,
      );
      // It is settled after all waiting events: these are before the recorded place, and nothing else would deliver
      // them.
      for (const event of waiting) if (!(await this.handle(event, present))) return this.parked.get(letter.stream);
      await this.journal.settled(present, discard ? 'discarded' : 'retried');
      this.parked.delete(letter.stream);
      return undefined;
    });
  }

  private get name(): string {
    return this.options.policy.name;
  }

  private get concurrency(): number {
    return this.options.policy.concurrency ?? CONCURRENCY;
  }

  private subscribe(): void {
    const { policy, log, logger } = this.options;
    this.subscription = log.subscribe({
      name: `policy/${policy.name}`,
      after: this.reached,
      filter: { types: policy.types },
      pageSize: Math.max(PAGE, this.concurrency),
      onEvents: (events, upTo, page) => this.mutex.run(() => this.onEvents(events, upTo, page)),
      onPassed: (upTo) => this.onPassed(upTo),
      onCaughtUp: () => this.mutex.run(() => this.onCaughtUp()),
      onError: (error, attempt) => {
        if (!this.stopping.signal.aborted)
          logger.warn({ policy: policy.name, attempt, error: errorName(error) }, 'Policy interrupted; retrying.');
      },
    });
  }

  private async onEvents(events: readonly StoredEvent[], upTo: Position, page?: LogPage): Promise<void> {
    const started = performance.now();
    const streams = [...Map.groupBy(events, (event) => event.stream).values()];
    const workers = Array.from({ length: Math.min(this.concurrency, streams.length) }, async () => {
      for (let next = streams.shift(); next !== undefined; next = streams.shift()) await this.inOrder(next);
    });
    await Promise.all(workers);
    this.reached = upTo;
    const last = events.at(-1);
    if (last === undefined) {
      // Foreign events do not count: recording a place is an event of ours, and would be skipped next.
      if (page?.isForeign === true) return;
      this.onTheWay += 1;
      this.passed += 1;
      return;
    }
    this.last = last;
    this.unrecorded += events.length;
    this.options.events.emit('reacted', {
      policy: this.name,
      events: events.length,
      milliseconds: performance.now() - started,
    });
    if (this.unrecorded >= RECORD_EVERY) await this.record();
    else
      this.timer ??= setTimeout(
        () =>
          void this.mutex
            .run(() => this.record())
            .catch((error: unknown) =>
              this.options.logger.warn(
                { policy: this.name, error: errorName(error) },
                'Recording the place of a policy failed; retrying.',
              ),
            ),
        RECORD_AFTER_MS,
      );
  }

  /** At the end of the log, unless other work is running or so much was skipped that the place must be recorded. */
  private onPassed(upTo: Position): boolean {
    if (!this.mutex.isFree || this.passed >= FAR_COMMITS) return false;
    this.reached = upTo;
    this.passed += 1;
    return true;
  }

  /** A policy whose events are rare would otherwise read most of the log again at every start. */
  private async onCaughtUp(): Promise<void> {
    const isFar = this.onTheWay >= FAR_PAGES || this.passed >= FAR_COMMITS;
    this.onTheWay = 0;
    if (!isFar || this.reached === null) return;
    const before = await lastBefore(this.options.log, this.reached, PAGES_BACK);
    if (before === undefined || (this.last !== undefined && this.last.position > before.position)) return;
    this.last = before;
    this.unrecorded += 1;
    await this.record();
  }

  private async inOrder(events: readonly StoredEvent[]): Promise<void> {
    for (const event of events) if (!this.parked.has(event.stream)) await this.handle(event);
  }

  /**
   * Reacts to one event, which may wait for a dead letter or be one; true if that worked, false if it became a dead
   * letter.
   */
  private async handle(event: StoredEvent, behind?: DeadLetter): Promise<boolean> {
    const { policy, codec } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      this.stopping.signal.throwIfAborted();
      try {
        const keys = policy.readsContent === true ? await codec.keysOf([event]) : NO_KEYS;
        await inReadScope(() => policy.react(codec.decodeWith(event, keys)));
        this.failing.delete(event.id);
        return true;
      } catch (error) {
        const unreadable = isUnreadable(error);
        if (unreadable || (attempt >= MAX_TRIES && !isUnavailable(error))) {
          await this.park(
            new PoisonEvent(event, unreadable ? error.reason : 'reaction', describeError(error)),
            (behind?.eventId === event.id ? behind.attempts : 0) + attempt,
          );
          this.failing.delete(event.id);
          return false;
        }
        this.failing.set(event.id, {
          eventId: event.id,
          type: event.type,
          stream: event.stream,
          attempts: attempt,
          detail: describeError(error),
        });
        await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)), undefined, {
          signal: this.stopping.signal,
        });
      }
    }
  }

  private async park(poison: PoisonEvent, attempts: number): Promise<void> {
    const letter = await this.journal.failed(poison, attempts);
    this.parked.set(letter.stream, letter);
    this.options.logger.error(
      {
        policy: this.name,
        eventId: letter.eventId,
        stream: letter.stream,
        reason: letter.reason,
        detail: letter.detail,
      },
      'Event became a dead letter.',
    );
    this.options.events.emit('deadLettered', letter);
  }

  private async record(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.last === undefined || this.unrecorded === 0) return;
    try {
      await this.journal.advance(this.last);
      this.unrecorded = 0;
      this.passed = 0;
    } catch (error) {
      if (isWrongExpectedRevision(error) && !this.stopping.signal.aborted) this.options.onFenced();
      throw error;
    }
  }
}
