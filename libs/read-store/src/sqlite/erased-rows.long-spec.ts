import { existsSync, readFileSync } from 'node:fs';
import type { Operation, ReadStore } from '../read-store';
import { staleGap } from './page-gaps';
import {
  file,
  foundOnDisk,
  isWhole,
  onDisk,
  open,
  opened,
  raw,
  secretRows,
  withViews,
  writerOf,
} from '../../../../test/fixtures/erased-views';

withViews();

describe('a purge', () => {
  /** Pages of the file, and of its write-ahead log, that hold anything where they hold no rows. */
  const staleGaps = (): number => {
    const [pages, log] = [
      readFileSync(file()),
      existsSync(`${file()}-wal`) ? readFileSync(`${file()}-wal`) : Buffer.alloc(0),
    ];
    const inFile = [...Array(pages.length / 4_096).keys()].filter(
      (n) => staleGap(pages.subarray(n * 4_096, (n + 1) * 4_096), n === 0) !== undefined,
    );
    const frames = [...Array(Math.max(0, Math.floor((log.length - 32) / 4_120))).keys()].map((n) =>
      log.subarray(32 + n * 4_120, 32 + (n + 1) * 4_120),
    );
    return (
      inFile.length +
      frames.filter((frame) => staleGap(frame.subarray(24), frame.readUInt32BE(0) === 1) !== undefined).length
    );
  };

  /** Bytes that this process has handed to the system to write; undefined where the system does not tell. */
  const written = (): number | undefined =>
    existsSync('/proc/self/io') ? Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]) : undefined;

  it('writes what was removed, not what is kept', async () => {
    const store = await open({ inThread: true });
    const commit = writerOf(store);
    for (let batch = 0; batch < 20; batch += 1)
      await commit(
        [...Array(1_000).keys()].map((n) => ({
          op: 'put',
          key: `${batch}-${n}`,
          row: { text: 'kept '.repeat(200), group: 'g' },
        })),
      );
    await commit([{ op: 'put', key: '3-77', row: { text: 'SECRET', group: 'g' } }]);
    await store.purge();
    await commit([{ op: 'remove', key: '3-77' }]);
    const before = written();
    await store.purge();
    expect(onDisk('SECRET')).toEqual([]);
    expect((written() ?? 0) - (before ?? 0)).toBeLessThan(1_000_000);
  });

  const filler = (number: number): readonly Operation[] =>
    [...Array(1_000).keys()].map((n) => ({
      op: 'put',
      key: `filler${number}-${n}`,
      row: { text: 'kept '.repeat(900), group: 'g' },
    }));

  it.each<readonly [string, (store: ReadStore, commit: ReturnType<typeof writerOf>) => Promise<ReadStore>]>([
    ['at once', async (store) => store],
    [
      'when the file was closed since',
      async (store) => {
        await store.close();
        return open({ inThread: true });
      },
    ],
    [
      'when much was written since',
      async (store, commit) => {
        for (let number = 0; number < 3; number += 1) await commit(filler(number));
        return store;
      },
    ],
  ])('leaves nothing of rows that were removed: %s', async (_, go) => {
    const first = await open({ inThread: true });
    const commit = writerOf(first);
    // A long log, which the next commit uses anew.
    await commit(filler(3));
    const rows = secretRows(400);
    for (let at = 0; at < rows.length; at += 40) await commit(rows.slice(at, at + 40));
    const position = { ...(await first.checkpoint('notes', 1)) }.position;
    const store = await go(first, commit);
    const from = (await store.checkpoint('notes', 1))?.position ?? null;
    expect(Number(from)).toBeGreaterThanOrEqual(Number(position));
    const change = (number: number, operations: readonly Operation[]): Promise<void> =>
      store.commit({
        view: 'notes',
        version: 1,
        from: String(Number(from) + number - 1),
        to: { position: String(Number(from) + number), handled: number },
        fence: 1,
        changes: [{ position: String(Number(from) + number), operations }],
      });
    await change(
      1,
      [...Array(400).keys()].map((n): Operation =>
        n % 3 === 0
          ? { op: 'remove', key: `k${n}` }
          : { op: 'patch', key: `k${n}`, fields: { text: { erased: true }, mark: 'a' } },
      ),
    );
    await store.purge();
    expect([onDisk('SECRET'), staleGaps()]).toEqual([[], 0]);
    // Rows that change their letters and not their length divide no page: those that are written again bring nothing back.
    await change(
      2,
      [...Array(400).keys()].flatMap((n): Operation[] =>
        n % 3 === 0 ? [] : [{ op: 'patch', key: `k${n}`, fields: { mark: 'b' } }],
      ),
    );
    expect([onDisk('SECRET'), staleGaps()]).toEqual([[], 0]);
    expect(isWhole()).toBe('ok');
  });

  it('clears a file that 1.5.0 wrote once, in which gaps of pages are as they were', async () => {
    const commit = writerOf(await open());
    const rows = secretRows(2_000);
    await commit(rows);
    await opened.splice(0)[0]?.close();
    // What that version left: all written back by SQLite, and removed rows beside those that are kept.
    // In an order that jumps about, and is the same each time: how much is left in gaps depends on it.
    const order = (step: number): string => `order by cast(substr(key, 2) as integer) * ${step} % 2003`;
    raw((db) => {
      db.pragma('secure_delete = on');
      db.exec(`create table copy as select * from rows ${order(7_919)}; delete from rows`);
      db.exec(
        `insert into rows select * from copy ${order(613)}; drop table copy; delete from rows where row like '%SECRET-k-%1 %'; update head set loose = 1; pragma user_version = 0`,
      );
      db.pragma('wal_checkpoint(truncate)');
    });
    const left = (): ReadonlySet<string> => foundOnDisk(/SECRET-k-\d*1 /g);
    expect(left()).not.toEqual(new Set());
    const store = await open();
    await store.purge();
    expect(left()).toEqual(new Set());
    expect([isWhole(), await store.count('notes', undefined, 1)]).toEqual(['ok', 1_800]);
  });
});
