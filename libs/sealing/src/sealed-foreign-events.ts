import type { LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { isSealable } from './event-hash';
import { sealedEvents } from './seal';
import { SealArchive } from './seal-archive';
import { SealedOrdinals } from './sealed-ordinals';

/** A seal follows its events at once, but for those that arrived while it was written. */
const SEALS_TRIED = 3;
const REMEMBERED_SEALS = 16;

/**
 * Finds the foreign events that an earlier version sealed; it sealed everything on the server. Without them its seals
 * cannot be verified. Pass the events in log order: it only looks at the seals around them.
 */
export class SealedForeignEvents {
  private readonly archive: SealArchive;
  private readonly ordinals: SealedOrdinals;
  private readonly known = new LRUCache<number, ReadonlySet<string>>({ max: REMEMBERED_SEALS });
  private ours: StoredEvent | undefined;
  private seals: number | undefined;
  /** Earlier seals list nothing that is still to come. */
  private revision = 0;

  /** For events behind a position. */
  constructor(
    log: LogReader,
    private readonly after: Position | null = null,
  ) {
    this.archive = new SealArchive(log);
    this.ordinals = new SealedOrdinals(log, this.archive);
  }

  passed(ours: StoredEvent): void {
    if (isSealable(ours)) this.ours = ours;
  }

  async holds(foreign: StoredEvent): Promise<boolean> {
    if (this.seals === undefined) await this.begin();
    const { ours } = this;
    this.ours = undefined;
    // Where one of ours is not sealed yet, nothing behind it is.
    if (ours !== undefined && this.revision < this.end && !(await this.isNear(ours)))
      this.revision = (await this.ordinals.over(ours))?.revision ?? this.end;
    return this.isNear(foreign);
  }

  private get end(): number {
    return this.seals ?? 0;
  }

  private async begin(): Promise<void> {
    this.seals = await this.archive.count();
    if (this.after !== null) this.revision = Math.max(0, (await this.archive.firstBehind(this.after)) - 1);
  }

  private async isNear(event: StoredEvent): Promise<boolean> {
    const end = Math.min(this.end, this.revision + SEALS_TRIED);
    for (let { revision } = this; revision < end; revision += 1) {
      if (!(await this.entriesOf(revision)).has(keyOf(event))) continue;
      this.revision = revision;
      return true;
    }
    return false;
  }

  private async entriesOf(revision: number): Promise<ReadonlySet<string>> {
    const entries =
      this.known.get(revision) ?? new Set(sealedEvents((await this.archive.at(revision)).seal).map(keyOf));
    this.known.set(revision, entries);
    return entries;
  }
}

const keyOf = ({ id, revision, stream }: Pick<StoredEvent, 'id' | 'revision' | 'stream'>): string =>
  `${id} ${revision} ${stream}`;
