import type { LogPage, Subscription } from '@app/event-log';
import {
  type Calls,
  errorName,
  isWrongExpectedRevision,
  type Logger,
  type Position,
  type StoredEvent,
} from '@app/kernel';
import { type EventHasher, type HashedEvent, hashedEvent, hashedEvents, type HashedPage } from './event-hasher';
import { acceptTail, EventProofs, type ProofParts } from './event-proofs';
import { isSealable, SEAL_STREAM } from './event-hash';
import { headOf, makeSeal, metaOfSeal, SEAL_SIZE, sealedId, type SealHead } from './seal';
import { SealArchive } from './seal-archive';
import { readSealedPlace, sealOf } from './sealed-place';
import { knownUnproven, recordedBehind, recordKey, recordUnproven, type UnprovenEvents } from './unproven';

/** What a sealer signs with, and how it works. */
export interface SealerOptions extends ProofParts {
  readonly logger: Logger;
  /** The log was just imported, and verified: its tail is accepted as it is. */
  readonly imported?: boolean;
  /** Starts the thread that reads and hashes while many events wait for a seal; without it, this process does that. */
  readonly hashers?: (() => Calls<EventHasher>) | undefined;
  /** Longest time an event waits for its seal, milliseconds. */
  readonly delayMs?: number;
}

type WaitingEvent = HashedEvent & { readonly isProven: boolean };

/** Longest name and id in the record of an unproven event, whose author chose them. */
const LONGEST_NAME = 300;
/** Most consecutive pages without reaching the end of the log. Beyond that, a thread reads and hashes. */
const FAR_PAGES = 5;

/**
 * Follows the log and seals it: after `SEAL_SIZE` events, or `delayMs` after the first waiting one. Its whole state is in the
 * seals, so a restart repeats nothing. Of two sealers one loses the race for the revision and learns what the other sealed.
 * Events that nobody with the key appended are left out and reported; those behind them are sealed.
 */
export class Sealer {
  private last: SealHead | undefined;
  private revision = -1;
  private unsealed: WaitingEvent[] = [];
  /** Not recorded yet. */
  private unproven: UnprovenEvents['events'] = [];
  /** Recorded before the start, and met again. */
  private recorded: ReadonlySet<string> = new Set();
  private proofs: EventProofs | undefined;
  /** Ids under seals of another sealer that have not been met yet. */
  private readonly sealedAhead = new Set<string>();
  private seen: Position | null = null;
  private subscription: Subscription | undefined;
  private firstCaughtUp = Promise.withResolvers<void>();
  /** Pages handled since it was last at the end of the log. */
  private behind = 0;
  private catchingUp: Promise<void> | undefined;
  private isStopped = false;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private timeline: number | undefined;

  constructor(private readonly options: SealerOptions) {}

  async start(): Promise<void> {
    const { log, mac, logger, imported = false } = this.options;
    this.timeline = log.readIndex?.timeline;
    const place = await readSealedPlace(log);
    const accepted = await acceptTail(this.options, place, imported);
    if (accepted > 0)
      logger.warn(
        { after: place.last?.ordinal ?? 0, events: accepted },
        'The last events of the log have no MACs: an earlier version wrote them, or they were imported. They are sealed once, without proof.',
      );
    this.recorded = await recordedBehind(log, mac, place.position);
    this.proofs = new EventProofs(new SealArchive(log), accepted);
    this.last = place.last;
    this.revision = place.revision;
    this.seen = place.position;
    this.unsealed = [];
    this.unproven = [];
    this.sealedAhead.clear();
    this.firstCaughtUp = Promise.withResolvers<void>();
    this.behind = 0;
    this.isStopped = false;
    this.subscribe();
  }

  /** Seals what waits and stops. If the log cannot be written, the next start seals it. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.subscription?.stop();
    await this.catchingUp;
    this.sealNoMore();
    await this.seal().catch((error: unknown) =>
      this.options.logger.warn(
        { waiting: this.waiting, error: errorName(error) },
        'The last events are not sealed yet. The next start will seal them.',
      ),
    );
    // What was being sealed meanwhile may have failed too, and would be tried again.
    this.sealNoMore();
  }

  /** Resolves when the end of the log is reached for the first time since the start. */
  get caughtUp(): Promise<void> {
    return this.firstCaughtUp.promise;
  }

  /** Ordinal of the last event under a seal. */
  get ordinal(): number {
    return this.last?.ordinal ?? 0;
  }

  /** Number of events read that wait for a seal. */
  get waiting(): number {
    return this.unsealed.length;
  }

  private subscribe(): void {
    const { log, logger } = this.options;
    this.subscription = log.subscribe({
      name: 'sealer',
      after: this.seen,
      pageSize: SEAL_SIZE,
      onEvents: (events, upTo, page) => this.onEvents(events, upTo, page),
      onCaughtUp: () => this.firstCaughtUp.resolve(),
      onError: (error, attempt) => logger.warn({ attempt, error: errorName(error) }, 'Sealer interrupted; retrying.'),
    });
  }

  private async onEvents(events: readonly StoredEvent[], upTo: Position, page?: LogPage): Promise<void> {
    const { hashers, mac } = this.options;
    const isNew = ({ position }: StoredEvent): boolean => this.seen === null || position > this.seen;
    await this.takeAll(
      events.filter((event) => isSealable(event) && isNew(event)).map((event) => hashedEvent(event, mac)),
      upTo,
    );
    this.behind = (page?.end ?? true) ? 0 : this.behind + 1;
    if (hashers !== undefined && this.behind >= FAR_PAGES)
      this.catchingUp ??= this.catchUp(hashers).finally(() => (this.catchingUp = undefined));
  }

  /**
   * Seals the log up to its end while another thread reads and hashes, a page ahead. If that fails, the subscription
   * continues.
   */
  private async catchUp(hashers: () => Calls<EventHasher>): Promise<void> {
    await this.subscription?.stop();
    if (this.isStopped) return;
    const hasher = hashers();
    const pageAfter = (position: Position | null): Promise<HashedPage> => {
      const page = hasher.call('page', position, SEAL_SIZE);
      // It is awaited a page later; until then a failure must not count as unhandled.
      page.catch(() => undefined);
      return page;
    };
    try {
      let isLast = false;
      for (let coming = pageAfter(this.seen); !isLast && !this.isStopped;) {
        const page = await coming;
        isLast = page.end;
        if (!isLast) coming = pageAfter(page.next);
        if (page.next !== null) await this.takeAll(hashedEvents(page), page.next);
      }
    } catch (error) {
      this.options.logger.warn(
        { error: errorName(error) },
        'Sealing in a thread failed. It continues in this process.',
      );
    }
    await hasher
      .close()
      .catch((error: unknown) =>
        this.options.logger.warn({ error: errorName(error) }, 'Closing the hashing thread failed.'),
      );
    this.behind = 0;
    if (!this.isStopped) this.subscribe();
  }

  /** Takes new events in log order, and seals when there are enough for a seal. */
  private async takeAll(events: readonly HashedEvent[], upTo: Position): Promise<void> {
    for (const event of events) {
      if (!this.sealedAhead.delete(event.id)) await this.take(event);
      // A page that comes again because sealing it failed adds nothing.
      this.seen = event.position;
    }
    this.seen = upTo;
    if (this.unsealed.length >= SEAL_SIZE || this.unproven.length >= SEAL_SIZE) await this.seal();
    else if (this.unsealed.length > 0 || this.unproven.length > 0) this.sealLater();
  }

  private async take(event: HashedEvent): Promise<void> {
    const { id, stream, revision, position, check } = event;
    const proof = await (this.proofs as EventProofs).of(event, check, (other) =>
      this.unsealed.some((waiting) => waiting.id === other),
    );
    if (proof === 'proven' || proof === 'accepted') {
      this.unsealed.push({ ...event, isProven: proof === 'proven' });
      return;
    }
    const found = { id: id.slice(0, LONGEST_NAME), stream: stream.slice(0, LONGEST_NAME), revision, reason: proof };
    if (!this.recorded.has(recordKey(found))) this.unproven.push(found);
    this.options.logger.error(
      { id, stream, revision, position, reason: proof },
      'The log holds an event that nobody with SEAL_KEY appended. It is not sealed.',
    );
  }

  private sealLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.seal().catch((error: unknown) => {
        this.options.logger.warn(
          { ordinal: this.ordinal, waiting: this.waiting, error: errorName(error) },
          'Sealing the log failed; retrying.',
        );
        this.sealLater();
      });
    }, this.options.delayMs ?? 1_000);
  }

  private sealNoMore(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Seals all that waits, after what is being sealed. */
  private seal(): Promise<void> {
    const sealed = this.work.then(async () => {
      if (this.unproven.length > 0 || this.unsealed.length > 0) await this.expectSameLog();
      while (this.unproven.length > 0) await this.recordUnproven();
      while (this.unsealed.length > 0) await this.appendSeal();
    });
    this.work = sealed.catch(() => undefined);
    return sealed;
  }

  /**
   * Throws if the log was restored from an older backup: waiting events may be lost, and are read again after the next
   * start.
   */
  private async expectSameLog(): Promise<void> {
    const { log } = this.options;
    if (log.readIndex === undefined) return;
    await log.head();
    if (log.readIndex.timeline !== this.timeline) throw new Error('the log was restored from an older backup');
  }

  /** Once more where another sealer records at the same time, and what it found, too. */
  private async recordUnproven(): Promise<void> {
    const { log, mac } = this.options;
    const events = this.unproven.slice(0, SEAL_SIZE);
    const { events: before } = await knownUnproven(log, mac);
    await recordUnproven(
      this.options,
      { type: 'UnprovenEventsFound', data: { events, total: before + events.length } },
      `found/${events[0]?.id}`,
    );
    this.unproven = this.unproven.slice(events.length);
  }

  private async appendSeal(): Promise<void> {
    const { log, codec, key, clock } = this.options;
    const isProven = this.unsealed[0]?.isProven === true;
    const other = this.unsealed.findIndex((event) => event.isProven !== isProven);
    const events = this.unsealed.slice(0, Math.min(SEAL_SIZE, other < 0 ? Infinity : other));
    const seal = makeSeal(this.last, events, isProven, key, clock.now());
    const encoded = await codec.encode(SEAL_STREAM, [{ type: 'LogSealed', data: seal }], metaOfSeal(seal), {});
    try {
      this.revision = (await log.append(SEAL_STREAM, encoded, this.revision < 0 ? 'noStream' : this.revision)).revision;
      this.last = headOf(seal);
      this.unsealed = this.unsealed.slice(events.length);
    } catch (error) {
      if (!isWrongExpectedRevision(error) || !(await this.learn())) throw error;
    }
  }

  /**
   * Takes over new seals in the log: another sealer's, or one of ours whose response was lost. False if there are none.
   */
  private async learn(): Promise<boolean> {
    const news = await this.options.log.readStream(SEAL_STREAM, { from: this.revision + 1 });
    for (const event of news) {
      const seal = sealOf(event);
      for (const entry of seal.events) this.sealedAhead.add(sealedId(entry));
      this.unsealed = this.unsealed.filter(({ id }) => !this.sealedAhead.delete(id));
      this.last = headOf(seal);
      this.revision = event.revision;
    }
    return news.length > 0;
  }
}
