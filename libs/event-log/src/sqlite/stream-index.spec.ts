import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database, Statement } from 'better-sqlite3';
import { newEvents } from '../contract/log-under-test.contract';
import { openForReading } from './log-files';
import { StreamIndex } from './stream-index';
import { openWriter, type Writer } from './writer';

let folder: string;
let writer: Writer;
let database: Database;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stream-index-'));
  writer = openWriter(folder, 0);
  database = openForReading(folder);
});
afterEach(() => {
  database.close();
  writer.close();
  rmSync(folder, { recursive: true });
});

/** Commits events of the stream at its end, and what the index knows of them. */
const append = (count: number): void => {
  writer.append([{ kind: 'append', id: 1, stream: 'a-1', expected: 'any', events: newEvents(count), bytes: count }]);
  writer.index(true);
};

const removeBefore = (revision: number): void => {
  const step = writer.remove({ kind: 'removal', id: 2, stream: 'a-1', expected: 'any', before: revision });
  if (step.kind !== 'removed') throw new Error('one step removes them all');
};

/** The same connection, on which the writer commits before each statement that reads. */
const withCommits = (commit: () => void): Database => {
  const racing = (statement: Statement): Statement =>
    new Proxy(statement, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]): unknown => {
          if (name === 'all' || name === 'get') commit();
          const answer: unknown = Reflect.apply(member, target, given);
          return answer === target ? racing(target) : answer;
        };
      },
    });
  return new Proxy(database, {
    get: (target, name) =>
      (name === 'prepare' ? (sql: string) => racing(target.prepare(sql)) : Reflect.get(target, name)) as unknown,
  });
};

const revisions = (rows: readonly (readonly unknown[])[]): unknown[] => rows.map((row) => row[2]);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, revision) => revision);

describe('the index of streams, while the writer commits between any two statements', () => {
  const index = (): StreamIndex => new StreamIndex(withCommits(() => append(1)));

  it('gives the stream upwards as it was at one time', () => {
    append(3);
    const rows = index().from('a-1', 0, 100);
    expect(revisions(rows)).toEqual(upTo(rows.length));
  });

  it('gives the stream downwards as it was at one time', () => {
    append(3);
    const rows = index().back('a-1', 1_000, 100);
    expect(revisions(rows)).toEqual(upTo(rows.length).toReversed());
  });

  it('gives a stream that begins meanwhile whole, or not at all', () => {
    expect(revisions(index().from('a-1', 0, 100))).toEqual([0]);
    expect(index().from('a-2', 0, 100)).toEqual([]);
  });

  it('finds the first revision that is kept as it was at one time', () => {
    append(64);
    let removed = 0;
    const racing = new StreamIndex(withCommits(() => removeBefore((removed += 9))));
    expect(racing.firstKept('a-1')).toBe(9);
  });

  it('reads in a transaction of its caller what that has written', () => {
    const own = new StreamIndex(database);
    append(2);
    const seen = database.transaction(() => {
      const before = own.from('a-1', 0, 100).length;
      append(1);
      return [before, own.from('a-1', 0, 100).length];
    })();
    expect(seen).toEqual([2, 2]);
    expect(own.from('a-1', 0, 100)).toHaveLength(3);
  });
});
