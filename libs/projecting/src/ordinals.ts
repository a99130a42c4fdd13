import type { EventLog } from '@app/event-log';
import type { Position } from '@app/kernel';

/** Counts over the log, since nothing may count with positions: the ordinal of an event is 1, 2, 3 ... in log order. */
export interface Ordinals {
  /** How many events stand at or before a position; null where that is not known without reading much of the log. */
  ordinalAt(position: Position): Promise<number | null>;
  /** How many events the log holds; null where that is not known. */
  head(): Promise<number | null>;
}

const PAGE = 1_000;

interface Mark {
  readonly position: Position | null;
  readonly ordinal: number;
}

/** Ordinals without seals: counts each event once, a page at a time, and keeps a mark for every page. Exact; the first call reads the log. */
export class CountedOrdinals implements Ordinals {
  private readonly marks: Mark[] = [{ position: null, ordinal: 0 }];
  private end = this.marks[0] as Mark;
  private counting: Promise<number> | undefined;

  constructor(private readonly log: EventLog) {}

  head(): Promise<number> {
    this.counting ??= this.count().finally(() => (this.counting = undefined));
    return this.counting;
  }

  async ordinalAt(position: Position): Promise<number> {
    if (this.end.position === null || position > this.end.position) await this.head();
    const reached = (mark: Mark): boolean => mark.position === null || mark.position <= position;
    const mark = reached(this.end) ? this.end : (this.marks.findLast(reached) as Mark);
    if (mark.position === position) return mark.ordinal;
    const page = await this.log.readAll({ after: mark.position, limit: PAGE });
    return mark.ordinal + page.events.filter((event) => event.position <= position).length;
  }

  private async count(): Promise<number> {
    for (;;) {
      const page = await this.log.readAll({ after: this.end.position, limit: PAGE });
      const last = page.events.at(-1);
      if (last !== undefined) this.end = { position: last.position, ordinal: this.end.ordinal + page.events.length };
      if (this.end.ordinal >= (this.marks.at(-1) as Mark).ordinal + PAGE) this.marks.push(this.end);
      if (page.end) return this.end.ordinal;
    }
  }
}
