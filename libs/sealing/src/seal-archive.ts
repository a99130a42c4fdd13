import { EVENT_LOG, type LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SEAL_STREAM } from './event-hash';
import { headOf, type Seal, sealedId, type SealHead } from './seal';
import { sealOf } from './sealed-place';

/** A seal as it stands in the log. */
export interface ArchivedSeal {
  readonly seal: Seal;
  readonly revision: number;
  readonly position: Position;
}

/** Where a seal stands and what it covers. */
interface SealMark extends Pick<SealHead, 'fromOrdinal' | 'ordinal'> {
  readonly position: Position;
}

const REMEMBERED_MARKS = 20_000;
const REMEMBERED_SEALS = 16;
/** A seal follows its events at once, but for those that arrived while it was written. */
const SEALS_TRIED = 3;
/** Seals that are looked through for an id alone. */
const MOST_SEALS = 1_000;

/**
 * Finds seals by ordinal, position or event without reading all of them: seals never change, and ordinals and positions
 * increase from seal to seal.
 */
@Injectable()
export class SealArchive {
  private readonly marks = new LRUCache<number, SealMark>({ max: REMEMBERED_MARKS });
  private readonly seals = new LRUCache<number, ArchivedSeal>({ max: REMEMBERED_SEALS });

  constructor(@Inject(EVENT_LOG) private readonly log: Pick<LogReader, 'readStream'>) {}

  /** Number of seals. */
  async count(): Promise<number> {
    const [last] = await this.log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
    return last === undefined ? 0 : this.remember(last).revision + 1;
  }

  /** Seals that end after an ordinal, oldest first. */
  async after(ordinal: number, limit: number): Promise<readonly SealHead[]> {
    const from = await this.first((mark) => mark.ordinal > ordinal);
    const events = await this.log.readStream(SEAL_STREAM, { from, limit });
    return events.map((event) => headOf(sealOf(event)));
  }

  /** Revision of the first seal after a position; the number of seals if there is none. */
  firstBehind(position: Position): Promise<number> {
    return this.first((mark) => mark.position > position);
  }

  /**
   * The seal over an event; undefined if it is not sealed yet. `covering` finds the seal by its events, for events that
   * were sealed much later: among this many seals, the revision of the first that reaches the event.
   */
  async over(
    event: Pick<StoredEvent, 'id' | 'position'>,
    covering: (count: number) => Promise<number>,
  ): Promise<ArchivedSeal | undefined> {
    const count = await this.count();
    const byPosition = await this.first((mark) => mark.position > event.position, count);
    return (
      (await this.holding(event.id, byPosition, count)) ??
      this.holding(event.id, Math.max(0, (await covering(count)) - SEALS_TRIED + 1), count)
    );
  }

  /**
   * The seal over an event of which only the id is known, among the last `MOST_SEALS`: sealing asks this. `verify`
   * finds an older one, because it reads all seals.
   */
  async overId(id: string): Promise<ArchivedSeal | undefined> {
    const last = (await this.count()) - 1;
    for (let revision = last; revision >= 0 && revision > last - MOST_SEALS; revision -= 1) {
      const archived = await this.at(revision);
      if (holds(archived, id)) return archived;
    }
    return undefined;
  }

  private async holding(id: string, from: number, count: number): Promise<ArchivedSeal | undefined> {
    for (let revision = from; revision < Math.min(count, from + 2 * SEALS_TRIED - 1); revision += 1) {
      const archived = await this.at(revision);
      if (holds(archived, id)) return archived;
    }
    return undefined;
  }

  /** Revision of the first seal with a property that all later seals share; `count` if there is none. */
  private async first(holdsFor: (mark: SealMark) => boolean, count?: number): Promise<number> {
    let low = 0;
    let high = count ?? (await this.count());
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (holdsFor(await this.markOf(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  private async markOf(revision: number): Promise<SealMark> {
    const known = this.marks.get(revision);
    if (known !== undefined) return known;
    await this.at(revision);
    return this.marks.get(revision) as SealMark;
  }

  /** The seal of a revision that is there. */
  async at(revision: number): Promise<ArchivedSeal> {
    const known = this.seals.get(revision);
    if (known !== undefined) return known;
    const [event] = await this.log.readStream(SEAL_STREAM, { from: revision, limit: 1 });
    if (event?.revision !== revision) throw new Error(`the seal of revision ${revision} is gone; verify the log`);
    return this.remember(event);
  }

  private remember(event: StoredEvent): ArchivedSeal {
    const known = this.seals.get(event.revision);
    if (known !== undefined) return known;
    const { revision, position } = event;
    const archived = { seal: sealOf(event), revision, position };
    this.seals.set(revision, archived);
    this.marks.set(revision, { fromOrdinal: archived.seal.fromOrdinal, ordinal: archived.seal.ordinal, position });
    return archived;
  }
}

const holds = ({ seal }: ArchivedSeal, id: string): boolean => seal.events.some((entry) => sealedId(entry) === id);
