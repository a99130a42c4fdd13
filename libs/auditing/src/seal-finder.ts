import type { LogReader } from '@app/event-log';
import { LruCache, type StoredEvent } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import { isSealable, SEAL_STREAM, type Seal, sealOf } from '@app/sealing';
import { AUDIT_TRAIL } from './trail-index';

/** A seal over an event follows it closely; further on nothing is looked for. */
const MOST_SEALS_LOOKED_AT = 50;
const AT_ONCE = 4;

/** An event under its seal. */
export interface SealedUnder {
  readonly seal: Seal;
  /** Place of the event in the seal, from 0. */
  readonly index: number;
}

interface OpenSeal {
  readonly seal: Seal;
  readonly places: ReadonlyMap<string, number>;
}

/** Finds the seals over events: by the place of the event in the log, since a seal is appended after what it covers. */
export class SealFinder {
  private readonly open = new LruCache<number, OpenSeal>(16);
  /** Where the last event was found; its neighbours are there too. */
  private latest: OpenSeal | undefined;

  constructor(
    private readonly log: LogReader,
    private readonly views: ReadStore,
  ) {}

  /** The seal over an event; undefined while there is none. */
  async find(event: Pick<StoredEvent, 'id' | 'position' | 'stream'>): Promise<SealedUnder | undefined> {
    if (!isSealable(event)) return undefined;
    const index = this.latest?.places.get(event.id);
    if (this.latest !== undefined && index !== undefined) return { seal: this.latest.seal, index };
    const first = await this.revisionAfter(event.position);
    if (first === undefined) return undefined;
    for (let revision = first; revision < first + MOST_SEALS_LOOKED_AT; revision += 1) {
      const found = await this.seal(revision);
      if (found === undefined) return undefined;
      const place = found.places.get(event.id);
      if (place === undefined) continue;
      this.latest = found;
      return { seal: found.seal, index: place };
    }
    return undefined;
  }

  /** The seal over an event that is known by its id; undefined also for an unknown one. */
  async findById(id: string): Promise<SealedUnder | undefined> {
    const [row] = await this.views.find(AUDIT_TRAIL, { where: { id }, limit: 1 });
    return row === undefined ? undefined : this.find({ id, position: row.key, stream: row.row['stream'] as string });
  }

  /** Ordinals by event id; an event that no seal covers yet is left out. */
  async ordinals(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, number>> {
    const ordinals = new Map<string, number>();
    for (const event of events) {
      const found = await this.find(event);
      if (found !== undefined) ordinals.set(event.id, found.seal.fromOrdinal + found.index);
    }
    return ordinals;
  }

  /** Revision of the first seal behind a position. */
  private async revisionAfter(position: string): Promise<number | undefined> {
    const [row] = await this.views.find(AUDIT_TRAIL, { where: { stream: SEAL_STREAM }, orderBy: [{ field: 'stream', order: 'asc' }], after: { values: [SEAL_STREAM], key: position }, limit: 1 });
    return row === undefined ? undefined : (row.row['revision'] as number);
  }

  private async seal(revision: number): Promise<OpenSeal | undefined> {
    const known = this.open.get(revision);
    if (known !== undefined) return known;
    for (const event of await this.log.readStream(SEAL_STREAM, { from: revision, limit: AT_ONCE })) {
      const seal = sealOf(event);
      this.open.set(event.revision, { seal, places: new Map(seal.events.map(([id], index) => [id, index])) });
    }
    return this.open.get(revision);
  }
}
