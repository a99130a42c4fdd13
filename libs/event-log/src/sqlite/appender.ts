import type { Database, Statement } from 'better-sqlite3';
import type { NewEvent } from '@app/kernel';
import { LogCorrupted } from '../event-log';
import { checksumOf, COLUMNS } from './event-row';
import { holds, intendedRevision } from './expectation';
import type { StreamHead, StreamHeads } from './stream-heads';
import type { StreamIndex } from './stream-index';
import type { StreamIndexer } from './stream-indexer';
import type { AppendRequest, Reply } from './writer-protocol';

/** Appends whose repeats at `any` and `streamExists` are recognized. Best effort: forgotten with the process. */
const REMEMBERED_APPENDS = 10_000;

/** Writes appends in the transaction of its caller. What it remembers is true only while no commit fails. */
export class Appender {
  private readonly insert: Statement<(string | number)[]>;
  private readonly recent = new Map<string, number>();

  constructor(
    database: Database,
    private readonly index: StreamIndex,
    private readonly indexer: StreamIndexer,
    private readonly heads: StreamHeads,
    public position: number,
  ) {
    this.insert = database.prepare(`INSERT INTO events (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  }

  /** Rejections and damage concern this append alone; any other error is thrown and ends the transaction. */
  append(request: AppendRequest): Reply {
    try {
      const head = this.heads.get(request.stream);
      return this.repeat(request, head.revision) ?? this.written(request, head);
    } catch (error) {
      if (!(error instanceof LogCorrupted)) throw error;
      return { id: request.id, kind: 'corrupted', place: error.place, detail: error.detail };
    }
  }

  /**
   * The answer to an append below the end of its stream, if its ids stand there: all where they would have gone is a repeat
   * and gets the first answer again; some is an error. These are the rules of KurrentDB's `IndexWriter.CheckCommit`: data
   * are not compared, and at the end of a stream ids are not looked for.
   */
  private repeat(request: AppendRequest, end: number): Reply | undefined {
    const { id, stream, events, expected } = request;
    const intended = intendedRevision(expected) ?? this.recent.get(recentKey(request));
    if (intended === undefined || intended > end) return undefined;
    if (this.heads.isUnindexed(stream)) this.indexer.bringUpTo(this.position);
    const rows = this.index.from(stream, intended, events.length);
    const known = rows.filter((row, index) => row[3] === events[index]?.id).length;
    const last = rows.at(-1);
    if (known === 0 || last === undefined) return undefined;
    return known < events.length
      ? { id, kind: 'mixed' }
      : { id, kind: 'repeated', position: last[0], revision: last[2] };
  }

  private written(request: AppendRequest, head: StreamHead): Reply {
    const { id, stream, events, expected } = request;
    if (!holds(expected, head)) return { id, kind: 'wrongRevision', actual: head.live ? head.revision : -1 };
    if (intendedRevision(expected) === undefined) this.remember(request, head.revision + 1);
    let revision = head.revision;
    for (const event of events) this.write(stream, (revision += 1), event);
    this.heads.moved(stream, { revision, live: true });
    return { id, kind: 'appended', position: this.position, revision };
  }

  private remember(request: AppendRequest, revision: number): void {
    if (this.recent.size >= REMEMBERED_APPENDS) this.recent.clear();
    this.recent.set(recentKey(request), revision);
  }

  private write(stream: string, revision: number, { id, type, data, metadata }: NewEvent): void {
    const position = this.position + 1;
    this.insert.run(
      position,
      stream,
      revision,
      id,
      type,
      data,
      metadata,
      checksumOf(position, stream, revision, id, type, data, metadata),
    );
    this.position = position;
  }
}

const recentKey = ({ stream, events }: AppendRequest): string => `${stream} ${events[0]?.id ?? ''}`;
