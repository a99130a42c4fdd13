import type { EventLog, Subscription } from '@app/event-log';
import { type Clock, type EventCodec, isWrongExpectedRevision, type Position, type StoredEvent } from '@app/kernel';
import { errorName, type Logger } from '@app/projecting';
import { contentHash, type SealedEvent } from './event-hash';
import { headOf, isSealable, makeSeal, metaOfSeal, SEAL_SIZE, SEAL_STREAM, sealedId, type SealHead } from './seal';
import type { SealKey } from './seal-key';
import { readSealedPlace, sealOf } from './sealed-place';

export interface SealerOptions {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly key: SealKey;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Longest time an event waits for its seal, milliseconds. */
  readonly delayMs?: number;
}

/**
 * Follows the log and seals it: after `SEAL_SIZE` events, or `delayMs` after the first that waits. All it knows is in the
 * seals, so a restart repeats nothing; of two sealers one loses the race for the revision and learns what the other sealed.
 */
export class Sealer {
  private last: SealHead | undefined;
  private revision = -1;
  private unsealed: SealedEvent[] = [];
  /** Ids under seals of another sealer that have not been met yet. */
  private readonly sealedAhead = new Set<string>();
  private seen: Position | null = null;
  private subscription: Subscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();

  constructor(private readonly options: SealerOptions) {}

  async start(): Promise<void> {
    const { log, logger } = this.options;
    const place = await readSealedPlace(log);
    this.last = place.last;
    this.revision = place.revision;
    this.seen = place.position;
    this.unsealed = [];
    this.sealedAhead.clear();
    this.subscription = log.subscribe({
      name: 'sealer',
      after: place.position,
      pageSize: SEAL_SIZE,
      onEvents: (events, upTo) => this.onEvents(events, upTo),
      onError: (error, attempt) => logger.warn({ attempt, error: errorName(error) }, 'the sealer was interrupted; trying again'),
    });
  }

  /** Seals what waits and ends; where the log cannot be written, the next start seals it. */
  async stop(): Promise<void> {
    await this.subscription?.stop();
    this.sealNoMore();
    await this.seal().catch((error: unknown) => this.options.logger.warn({ waiting: this.waiting, error: errorName(error) }, 'the last events are not sealed yet; the next start seals them'));
    // What was being sealed meanwhile may have failed too, and would be tried again.
    this.sealNoMore();
  }

  /** Ordinal of the last event under a seal. */
  get ordinal(): number {
    return this.last?.ordinal ?? 0;
  }

  /** How many events that were read wait for a seal. */
  get waiting(): number {
    return this.unsealed.length;
  }

  /** A page that comes again, since sealing it failed, adds nothing. */
  private async onEvents(events: readonly StoredEvent[], upTo: Position): Promise<void> {
    for (const event of events) {
      const isNew = this.seen === null || event.position > this.seen;
      if (isNew && isSealable(event) && !this.sealedAhead.delete(event.id)) this.unsealed.push({ id: event.id, stream: event.stream, revision: event.revision, content: contentHash(event) });
    }
    this.seen = upTo;
    if (this.unsealed.length >= SEAL_SIZE) await this.seal();
    else if (this.unsealed.length > 0) this.sealLater();
  }

  private sealLater(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.seal().catch((error: unknown) => {
        this.options.logger.warn({ ordinal: this.ordinal, waiting: this.waiting, error: errorName(error) }, 'the log could not be sealed; trying again');
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
      while (this.unsealed.length > 0) await this.appendSeal();
    });
    this.work = sealed.catch(() => undefined);
    return sealed;
  }

  private async appendSeal(): Promise<void> {
    const { log, codec, key, clock } = this.options;
    const events = this.unsealed.slice(0, SEAL_SIZE);
    const seal = makeSeal(this.last, events, key, clock.now());
    const encoded = await codec.encode(SEAL_STREAM, [{ type: 'LogSealed', data: seal }], metaOfSeal(seal), {});
    try {
      this.revision = (await log.append(SEAL_STREAM, encoded, this.revision < 0 ? 'noStream' : this.revision)).revision;
      this.last = headOf(seal);
      this.unsealed = this.unsealed.slice(events.length);
    } catch (error) {
      if (!isWrongExpectedRevision(error) || !(await this.learn())) throw error;
    }
  }

  /** Takes over the seals that are new in the log: another sealer's, or one of ours whose answer was lost. False where there are none. */
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
