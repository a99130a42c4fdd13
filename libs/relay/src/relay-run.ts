import type { EventLog, Subscription } from '@app/event-log';
import {
  type Aggregates,
  type Clock,
  errorName,
  type EventCodec,
  isUnavailable,
  isWrongExpectedRevision,
  type Logger,
  Mutex,
  type Position,
  pauseUnlessAborted,
  type StoredEvent,
  Unavailable,
} from '@app/kernel';
import {
  type DeadLetter,
  describeError,
  type PoisonEvent,
  type PolicyFailure,
  PolicyJournal,
  type Runner,
} from '@app/projecting';
import { type Batch, batchOf } from './batch';
import type { Publisher } from './message';
import { PrivateStreams } from './private-streams';

/** The name of the relay's place and dead letters in the log, as of a policy. */
export const RELAY = 'relay';
/** Events read and sent at once; messages are below 1 KiB, so that a batch fits into what brokers take by default (1 MiB). */
const PAGE = 500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The place is recorded so long after the first event that is not; what was sent within it is sent again after a crash. */
const RECORD_AFTER_MS = 1_000;
/** A stop waits this long for the running batch. */
const STOP_MS = 5_000;

export interface RelayRunOptions {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly aggregates: Aggregates;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly logger: Logger;
  /** CloudEvents `source` of this instance. */
  readonly source: string;
  readonly topicPrefix: string;
  readonly onPublished: (events: number) => void;
  readonly onFailed: () => void;
  /** Another process relays: this one must stop. */
  readonly onFenced: () => void;
}

/** Relays the log from the recorded place on, until stopped. One batch is on its way while the next is read. */
export class RelayRun implements Runner {
  private readonly mutex = new Mutex();
  private readonly recording = new Mutex();
  private readonly stopping = new AbortController();
  private subscription: Subscription | undefined;
  private sending: Promise<void> = Promise.resolve();
  private unrecorded = 0;
  private last: StoredEvent | undefined;
  private timer: NodeJS.Timeout | undefined;
  private failing: PolicyFailure | undefined;
  /** Revision from which on a stream is held back: that of its dead letter, also of one that is not recorded yet. */
  private readonly held: Map<string, number>;
  /** Up to here events were read; what was held back of them waits for its dead letter. */
  private read: Position | null;
  private readonly privateStreams: PrivateStreams;

  private constructor(
    private readonly options: RelayRunOptions,
    private readonly journal: PolicyJournal,
    private readonly parked: Map<string, DeadLetter>,
    private reached: Position | null,
  ) {
    this.read = reached;
    this.privateStreams = new PrivateStreams(options.log, options.aggregates);
    this.held = new Map([...parked].map(([stream, { revision }]) => [stream, revision]));
  }

  static async start(options: RelayRunOptions): Promise<RelayRun> {
    const journal = new PolicyJournal(RELAY, options.log, options.codec, options.clock);
    const run = new RelayRun(options, journal, await journal.letters(), await journal.place());
    run.subscribe();
    return run;
  }

  /** Everything up to here is with the brokers. */
  get position(): Position | null {
    return this.reached;
  }

  get letters(): readonly DeadLetter[] {
    return [...this.parked.values()];
  }

  /** The first event of the batch that the brokers do not take, while they do not. */
  get failure(): PolicyFailure | undefined {
    return this.failing;
  }

  /** Resolves when the batch under way has arrived, or was given up, and the place is recorded. */
  async stop(): Promise<void> {
    const { publisher } = this.options;
    this.stopping.abort();
    clearTimeout(this.timer);
    const timeout = setTimeout(() => void publisher.close(), STOP_MS);
    await this.subscription?.stop();
    await this.sending;
    clearTimeout(timeout);
    await this.record();
    await publisher.close();
  }

  /** Sends the event of a dead letter and what waits behind it; `discard` passes over the event itself. Throws `Unavailable` while the brokers are away. */
  async replay(letter: DeadLetter, { discard }: { readonly discard: boolean }): Promise<DeadLetter | undefined> {
    if (this.failing !== undefined) throw new Unavailable('kafka', this.failing.detail);
    return this.mutex.run(async () => {
      const present = this.parked.get(letter.stream);
      if (present?.eventId !== letter.eventId) return present;
      const stream = await this.options.log.readStream(letter.stream, { from: letter.revision + (discard ? 1 : 0) });
      const waiting = stream.filter(
        ({ type, position }) =>
          this.options.aggregates.relayedTypes.includes(type) && this.read !== null && position <= this.read,
      );
      const { messages, poison } = batchOf(
        waiting,
        { held: new Map(), privateStreams: await this.privateStreams.among(waiting) },
        this.options,
      );
      await this.sending;
      if (messages.length > 0) await this.options.publisher.publish(messages);
      const [left] = poison;
      // Takes the place of the dead letter before.
      if (left !== undefined) return this.park(left, left.event.id === present.eventId ? present.attempts + 1 : 1);
      await this.journal.settled(present, discard ? 'discarded' : 'retried');
      this.parked.delete(letter.stream);
      this.held.delete(letter.stream);
      return undefined;
    });
  }

  private subscribe(): void {
    this.subscription = this.options.log.subscribe({
      name: RELAY,
      after: this.reached,
      filter: { types: this.options.aggregates.relayedTypes },
      pageSize: PAGE,
      onEvents: (events, upTo) => this.mutex.run(() => this.onEvents(events, upTo)),
      onError: (error, attempt) => {
        if (!this.stopping.signal.aborted)
          this.options.logger.warn({ attempt, error: errorName(error) }, 'Relay interrupted; retrying.');
      },
    });
  }

  /** Answers when the batch before has arrived: what is in memory are two batches, the log holds the rest. */
  private async onEvents(events: readonly StoredEvent[], upTo: Position): Promise<void> {
    const batch = batchOf(
      events,
      { held: this.held, privateStreams: await this.privateStreams.among(events) },
      this.options,
    );
    for (const { event } of batch.poison) this.held.set(event.stream, event.revision);
    await this.sending;
    this.stopping.signal.throwIfAborted();
    this.read = upTo;
    this.sending = this.send(batch, events, upTo);
  }

  /** Tries until the brokers have the batch and its dead letters are recorded, or until stopped: then the place stays before it. */
  private async send({ messages, poison }: Batch, events: readonly StoredEvent[], upTo: Position): Promise<void> {
    let unsent = messages;
    const unparked = [...poison];
    for (let attempt = 1; unsent.length + unparked.length > 0; attempt += 1) {
      if (this.stopping.signal.aborted) return;
      try {
        if (unsent.length > 0) await this.options.publisher.publish(unsent);
        unsent = [];
        for (let [next] = unparked; next !== undefined; [next] = unparked) {
          await this.park(next, 1);
          unparked.shift();
        }
      } catch (error) {
        this.fail(error, attempt, events[0] as StoredEvent);
        await pauseUnlessAborted(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)), this.stopping.signal);
      }
    }
    this.failing = undefined;
    this.options.onPublished(messages.length);
    this.reached = upTo;
    this.last = events.at(-1) ?? this.last;
    this.unrecorded += events.length;
    if (this.unrecorded > 0) this.timer ??= setTimeout(() => void this.record(), RECORD_AFTER_MS);
  }

  private fail(error: unknown, attempts: number, { id: eventId, type, stream }: StoredEvent): void {
    const detail = isUnavailable(error) ? error.reason : describeError(error);
    this.failing = { eventId, type, stream, attempts, detail };
    this.options.onFailed();
    this.options.logger.warn({ attempts, detail }, 'Sending integration events failed; retrying.');
    if (isWrongExpectedRevision(error)) this.fenced();
  }

  private async park(poison: PoisonEvent, attempts: number): Promise<DeadLetter> {
    const letter = await this.journal.failed(poison, attempts);
    this.parked.set(letter.stream, letter);
    this.held.set(letter.stream, letter.revision);
    this.options.logger.error(
      { eventId: letter.eventId, stream: letter.stream, reason: letter.reason, detail: letter.detail },
      'Event cannot be relayed and became a dead letter.',
    );
    return letter;
  }

  /** Says where it stands. A place that could not be recorded is recorded with the next one; until then a restart sends again. */
  private record(): Promise<void> {
    return this.recording.run(async () => {
      clearTimeout(this.timer);
      this.timer = undefined;
      if (this.last === undefined || this.unrecorded === 0) return;
      const recorded = this.unrecorded;
      try {
        await this.journal.advance(this.last);
        this.unrecorded -= recorded;
      } catch (error) {
        this.options.logger.warn({ error: errorName(error) }, 'Recording the place of the relay failed.');
        if (isWrongExpectedRevision(error)) this.fenced();
        else if (!this.stopping.signal.aborted) this.timer = setTimeout(() => void this.record(), RECORD_AFTER_MS);
      }
    });
  }

  private fenced(): void {
    if (this.stopping.signal.aborted) return;
    this.stopping.abort();
    this.options.onFenced();
  }
}
