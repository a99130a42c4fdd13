import type { Database, Statement } from 'better-sqlite3';
import { LogCorrupted } from '../event-log';
import { checksumOf, type EventRow, REMOVED } from './event-row';
import { holds } from './expectation';
import type { StreamHeads } from './stream-heads';
import type { StreamIndex } from './stream-index';
import type { StreamIndexer } from './stream-indexer';
import type { RemovalRequest, Reply } from './writer-protocol';

const ROWS_AT_ONCE = 500;

/**
 * Empties rows of a stream from its beginning, some in each of its caller's transactions. A row keeps its position,
 * revision and event id: so positions stay explained, revisions go on, and repeats of old appends are still known.
 */
export class Remover {
  private readonly empty: Statement<[number, number]>;

  constructor(
    database: Database,
    private readonly index: StreamIndex,
    private readonly indexer: StreamIndexer,
    private readonly heads: StreamHeads,
  ) {
    this.empty = database.prepare(
      `UPDATE events SET type = '${REMOVED}', data = '', metadata = '', checksum = ? WHERE position = ?`,
    );
  }

  /** The answer when nothing is left to remove, or the request for the rest; all up to `position` is in the index then. */
  step(request: RemovalRequest, position: number): Reply | RemovalRequest {
    try {
      const head = this.heads.get(request.stream);
      if (!holds(request.expected, head))
        return { id: request.id, kind: 'wrongRevision', actual: head.live ? head.revision : -1 };
      const before = Math.min(request.before ?? Infinity, head.revision + 1);
      this.indexer.bringUpTo(position);
      const first = this.index.firstKept(request.stream);
      const rows = first < before ? this.index.from(request.stream, first, Math.min(ROWS_AT_ONCE, before - first)) : [];
      for (const row of rows) this.remove(row);
      if (first + rows.length < before) return { ...request, expected: 'any', before };
      if (before > head.revision) this.heads.emptied(request.stream, head.revision);
      return { id: request.id, kind: 'removed', before };
    } catch (error) {
      if (!(error instanceof LogCorrupted)) throw error;
      return { id: request.id, kind: 'corrupted', place: error.place, detail: error.detail };
    }
  }

  private remove([position, stream, revision, id]: EventRow): void {
    this.empty.run(checksumOf(position, stream, revision, id, REMOVED, '', ''), position);
  }
}
