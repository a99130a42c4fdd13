import type { LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import type { Ordinals } from '@app/projecting';
import { isSealable, SEAL_STREAM, type Seal, sealedId } from './seal';
import type { ArchivedSeal, SealArchive } from './seal-archive';

interface Mark {
  readonly position: Position | null;
  readonly ordinal: number;
}

const PAGE = 500;
/** So many pages are counted from a mark before a nearer seal is looked for. */
const PAGES_COUNTED = 2;
const MOST_MARKS = 10_000;

/**
 * Ordinals as the seals give them, counted on from the seal before. Where events were removed, a count is short until the
 * next seal sets it right; `of` is exact. No call reads more than a few pages of a log that is sealed as it grows.
 */
export class SealedOrdinals implements Ordinals {
  private marks: Mark[] = [{ position: null, ordinal: 0 }];

  constructor(
    private readonly log: LogReader,
    private readonly archive: SealArchive,
  ) {}

  async head(): Promise<number> {
    const head = await this.log.head();
    return head === null ? 0 : this.ordinalAt(head);
  }

  async ordinalAt(position: Position): Promise<number> {
    const near = await this.countOn(this.markBefore(position), position, PAGES_COUNTED);
    if (near !== undefined) return near;
    const seal = await this.archive.lastAt(position);
    if (seal !== undefined) this.add(await this.endOf(seal));
    return (await this.countOn(this.markBefore(position), position, Infinity)) as number;
  }

  /** The ordinals of events by id; those that no seal covers yet are left out. */
  async of(events: readonly Pick<StoredEvent, 'id' | 'position'>[]): Promise<ReadonlyMap<string, number>> {
    const ordinals = new Map<string, number>();
    for (const event of events) {
      const archived = await this.archive.over(event, () => this.ordinalAt(event.position));
      if (archived !== undefined) ordinals.set(event.id, archived.seal.fromOrdinal + archived.seal.events.findIndex((entry) => sealedId(entry) === event.id));
    }
    return ordinals;
  }

  /** Counts from a mark to a position; undefined when it takes more pages than allowed. */
  private async countOn(from: Mark, position: Position, pages: number): Promise<number | undefined> {
    let { position: after, ordinal } = from;
    for (let read = 0; read < pages; read += 1) {
      const page = await this.log.readAll({ after, limit: PAGE });
      const upTo = page.events.filter((event) => event.position <= position);
      for (const event of upTo) ordinal = countedWith(ordinal, event);
      if (page.end || upTo.length < page.events.length || (page.next !== null && page.next >= position)) return ordinal;
      after = page.next;
      this.add({ position: after, ordinal });
    }
    return undefined;
  }

  /** The last event under a seal that still stands: found backwards from the seal, next to it as a rule. */
  private async endOf({ seal, position }: ArchivedSeal): Promise<Mark> {
    const ordinals = new Map(seal.events.map((entry, index) => [sealedId(entry), seal.fromOrdinal + index]));
    for (let after: Position | null = position; ; ) {
      const page = await this.log.readAll({ direction: 'backwards', after, limit: PAGE });
      const last = page.events.find((event) => ordinals.has(event.id));
      if (last !== undefined) return { position: last.position, ordinal: ordinals.get(last.id) as number };
      if (page.end) return { position: null, ordinal: 0 };
      after = page.next;
    }
  }

  private markBefore(position: Position): Mark {
    return this.marks.findLast((mark) => mark.position === null || mark.position <= position) as Mark;
  }

  private add(mark: Mark): void {
    if (mark.position === null) return;
    const index = this.marks.findLastIndex((known) => known.position === null || known.position <= (mark.position as Position));
    if (this.marks[index]?.position === mark.position) return;
    this.marks.splice(index + 1, 0, mark);
    if (this.marks.length > MOST_MARKS) this.marks = this.marks.filter((_, place) => place % 2 === 0);
  }
}

/** A seal knows how many events stand before it, those that were removed since among them. */
const countedWith = (ordinal: number, event: StoredEvent): number => {
  if (event.stream === SEAL_STREAM) return Math.max(ordinal, (JSON.parse(event.data) as Seal).ordinal);
  return isSealable(event) ? ordinal + 1 : ordinal;
};
