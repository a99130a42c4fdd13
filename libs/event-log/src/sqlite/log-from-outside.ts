import type { Database } from 'better-sqlite3';
import type { StoredEvent } from '@app/kernel';
import { LogCorrupted } from '../event-log';
import { isRemoved, storedEvent } from './event-row';
import { EventTable, rowsAfter } from './event-table';
import { readHeadMark } from './head-mark';
import { positionText } from './positions';
import type { ReadableLog } from './sqlite-log-reader';
import { StreamIndex } from './stream-index';

/** The log for a thread or process that the writer does not notify. */
export class LogFromOutside implements ReadableLog {
  readonly table: EventTable;
  readonly index: StreamIndex;
  private readonly markAtOpening: number;
  /** Places of events that the index did not have when it was last read: by stream, from `indexed` to `scanned`. */
  private readonly positions = new Map<string, number[]>();
  private indexed = 0;
  private scanned = 0;

  constructor(
    private readonly folder: string,
    private readonly database: Database,
  ) {
    this.table = new EventTable(database);
    this.index = new StreamIndex(database);
    this.markAtOpening = readHeadMark(folder);
  }

  head(): number {
    const mark = readHeadMark(this.folder);
    const head = this.table.lastPosition();
    // In a log at rest, the mark may be beyond a tail that was cut off: opening checks it, and a server corrects it
    // when it opens the log.
    if (head >= mark || mark === this.markAtOpening) return head;
    throw new LogCorrupted(
      `position ${positionText(head + 1)}`,
      `the log ends before it, ${positionText(mark)} was acknowledged`,
    );
  }

  /** Remembers positions, not events: a removed event must not be shown. */
  newest(stream: string): readonly StoredEvent[] {
    this.scan(this.index.upTo(), this.head());
    const rows = (this.positions.get(stream) ?? []).flatMap((position) => this.table.after(position - 1, position));
    return rows.filter((row) => !isRemoved(row)).map(storedEvent);
  }

  close(): void {
    this.database.close();
  }

  private scan(indexed: number, head: number): void {
    if (indexed !== this.indexed) {
      this.positions.clear();
      this.indexed = this.scanned = indexed;
    }
    for (const [position, stream] of rowsAfter(this.table, this.scanned, head)) {
      const known = this.positions.get(stream);
      if (known === undefined) this.positions.set(stream, [position]);
      else known.push(position);
      this.scanned = position;
    }
  }
}
