import { EVENT_LOG, type LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import type { Ordinals } from '@app/projecting';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { isSealable, SEAL_STREAM } from './event-hash';
import { sealedEvent, sealedId } from './seal';
import { type ArchivedSeal, SealArchive } from './seal-archive';
import { sealOf } from './sealed-place';

const PAGE = 500;
/** Count at most this many events after the last seal: more wait only while no sealer runs. */
const MOST_COUNTED = 1_000;
/** In at most so many pages: others may write between them. */
const PAGES_COUNTED = 10;
const REMEMBERED_ENDS = 20_000;
/** Stands before every position: where all events so far were removed. */
const START: Position = '';
/** Entries of a seal that are looked up, one read each, where events were removed. */
const MOST_LOOKED_UP = 40;

/**
 * Ordinals from the seals. The seal over a position is found by the positions of its events, so it does not matter how
 * much later it was written. After the last seal a few pages are counted; beyond that the ordinal is unknown. So the
 * work per call does not depend on the length of the log, sealed or not. If events were removed, a count may be too low
 * by their number.
 */
@Injectable()
export class SealedOrdinals implements Ordinals {
  /** Position of the last event that each seal covers, by the seal's revision. */
  private readonly ends = new LRUCache<number, Position>({ max: REMEMBERED_ENDS });
  private counting: Promise<number | null> | undefined;

  constructor(
    @Inject(EVENT_LOG) private readonly log: LogReader,
    private readonly archive: SealArchive,
  ) {}

  /** Shared by all who ask at once. */
  head(): Promise<number | null> {
    this.counting ??= this.countHead().finally(() => (this.counting = undefined));
    return this.counting;
  }

  async ordinalAt(position: Position): Promise<number | null> {
    const count = await this.archive.count();
    const covering = await this.covering(position, count);
    return covering < count
      ? this.ordinalUnder(await this.archive.at(covering), position)
      : this.countOn(position, count);
  }

  /** The ordinals of events by id; those that no seal covers yet are left out. */
  async of(events: readonly Pick<StoredEvent, 'id' | 'position'>[]): Promise<ReadonlyMap<string, number>> {
    const ordinals = new Map<string, number>();
    for (const event of events) {
      const archived = await this.over(event);
      if (archived !== undefined)
        ordinals.set(
          event.id,
          archived.seal.fromOrdinal + archived.seal.events.findIndex((entry) => sealedId(entry) === event.id),
        );
    }
    return ordinals;
  }

  /** The seal over an event; undefined for one that is not sealed yet. */
  over(event: Pick<StoredEvent, 'id' | 'position'>): Promise<ArchivedSeal | undefined> {
    return this.archive.over(event, (count) => this.covering(event.position, count));
  }

  private async countHead(): Promise<number | null> {
    const head = await this.log.head();
    return head === null ? 0 : this.ordinalAt(head);
  }

  /** Revision of the first seal whose events reach a position; `count` where none does. */
  private async covering(position: Position, count: number): Promise<number> {
    let low = 0;
    let high = count;
    // Most ask for what is behind the last seal.
    if (count > 0 && (await this.endOf(count - 1)) < position) return count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.endOf(middle)) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Where the events under a seal end; where they were removed, where those before it do. */
  private async endOf(revision: number): Promise<Position> {
    const passed: number[] = [];
    let end: Position | undefined;
    for (let at = revision; at >= 0 && end === undefined; at -= 1) {
      end = this.ends.get(at) ?? (await this.lastOf(await this.archive.at(at)));
      passed.push(at);
    }
    for (const at of passed) this.ends.set(at, end ?? START);
    return end ?? START;
  }

  /** Position of the last event under a seal that still stands, as a rule the last of all. */
  private async lastOf({ seal: { events } }: ArchivedSeal): Promise<Position | undefined> {
    for (let back = 1; back <= events.length; back = back < 8 ? back + 1 : back * 2) {
      const position = await this.placeOf(events[events.length - back] as string);
      if (position !== undefined) return position;
    }
    return undefined;
  }

  /** How many events stand at or before a position that lies between the first and the last event under a seal. */
  private async ordinalUnder({ seal }: ArchivedSeal, position: Position): Promise<number> {
    let low = 0;
    let high = seal.events.length;
    let left = MOST_LOOKED_UP;
    while (low < high && left > 0) {
      const middle = Math.floor((low + high) / 2);
      // The place of removed events is unknown: that of the event before them is used.
      let asked = middle;
      let place = await this.placeOf(seal.events[asked] as string);
      for (left -= 1; place === undefined && asked > low && left > 0; left -= 1)
        place = await this.placeOf(seal.events[(asked -= 1)] as string);
      if (place !== undefined && place > position) high = asked;
      else low = middle + 1;
    }
    return seal.fromOrdinal - 1 + low;
  }

  /** Where the event of an entry stands; undefined when it was removed. */
  private async placeOf(entry: string): Promise<Position | undefined> {
    const { id, stream, revision } = sealedEvent(entry);
    const [event] = await this.log.readStream(stream, { from: revision, limit: 1 });
    return event?.id === id ? event.position : undefined;
  }

  /** Counts from the last seal to a position; null when it takes more pages than are read for it. */
  private async countOn(position: Position, count: number): Promise<number | null> {
    let ordinal = count === 0 ? 0 : (await this.archive.at(count - 1)).seal.ordinal;
    const end = count === 0 ? START : await this.endOf(count - 1);
    let after = end === START ? null : end;
    for (let read = 0, counted = 0; read < PAGES_COUNTED && counted < MOST_COUNTED; read += 1) {
      const page = await this.log.readAll({ after, limit: PAGE });
      counted += page.events.length;
      const upTo = page.events.filter((event) => event.position <= position);
      for (const event of upTo) ordinal = countedWith(ordinal, event);
      if (page.end || upTo.length < page.events.length || (page.next !== null && page.next >= position)) return ordinal;
      after = page.next;
    }
    return null;
  }
}

/** A seal has the number of events before it, including those that were removed since. */
const countedWith = (ordinal: number, event: StoredEvent): number => {
  if (event.stream === SEAL_STREAM) return Math.max(ordinal, sealOf(event).ordinal);
  return isSealable(event) ? ordinal + 1 : ordinal;
};
