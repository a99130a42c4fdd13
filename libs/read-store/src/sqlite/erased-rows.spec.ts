import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Operation, ReadStore } from '../read-store';
import { staleGap } from './page-gaps';
import { openSqliteReadStore } from './sqlite-read-store';

let folder: string;
const opened: ReadStore[] = [];
const open = async (options: { inThread?: boolean } = {}): Promise<ReadStore> => {
  const store = await openSqliteReadStore({ folder, ...options });
  opened.push(store);
  await store.prepare({
    name: 'notes',
    version: 1,
    indexes: [{ name: 'by-group', fields: [{ field: 'group' }, { field: 'text' }] }],
  });
  return store;
};
const file = (): string => join(folder, 'notes-v1.sqlite');
const raw = <T>(work: (db: Database.Database) => T): T => {
  const db = new Database(file());
  try {
    return work(db);
  } finally {
    db.close();
  }
};
/** Files that hold a text. */
const onDisk = (text: string): readonly string[] =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(text));
const isWhole = (): unknown => raw((db) => db.pragma('integrity_check', { simple: true }));

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

/** Commits one batch after another, in a slice of its own. */
const writerOf = (store: ReadStore, slice = 0) => {
  let number = 0;
  return (operations: readonly Operation[]): Promise<void> => {
    const from = number === 0 ? null : String(number);
    number += 1;
    return store.commit({
      view: 'notes',
      version: 1,
      slice,
      from,
      to: { position: String(number), handled: number },
      fence: 1,
      changes: [{ position: String(number), operations }],
    });
  };
};
/** Rows in no order of their keys, so that pages are divided, of many lengths. */
const secretRows = (count: number, name = 'k'): readonly Operation[] =>
  [...Array(count).keys()].map((n) => ({
    op: 'put',
    key: `${name}${(n * 7_919) % count}`,
    row: { text: `SECRET-${name}-${n} ${'SECRET '.repeat(n % 90)}`, group: 'g' },
  }));
const removals = (rows: readonly Operation[]): readonly Operation[] =>
  rows.flatMap((row): Operation[] => (row.op === 'put' ? [{ op: 'remove', key: row.key }] : []));

/** Bytes that this process has handed to the system to write; undefined where the system does not tell. */
const written = (): number | undefined =>
  existsSync('/proc/self/io') ? Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]) : undefined;

/** Writes rows, removes them and purges, for ever; says so after the third purge. */
const ENDLESS_ERASER = `
  const { openSqliteReadStore } = require('@app/read-store');
  void (async () => {
    const store = await openSqliteReadStore({ folder: process.argv[1] });
    let number = 1;
    const commit = (operations) => {
      const from = String(number);
      number += 1;
      return store.commit({ view: 'notes', version: 1, from, to: { position: String(number), handled: number }, fence: 1, changes: [{ position: String(number), operations }] });
    };
    for (let round = 1; ; round += 1) {
      const keys = Array.from({ length: 300 }, (_, k) => 'gone' + ((k * 7919) % 300));
      for (let at = 0; at < 300; at += 50) await commit(keys.slice(at, at + 50).map((key, k) => ({ op: 'put', key, row: { text: 'SECRET '.repeat((k * round) % 90 + 1), group: 'g' } })));
      await commit(keys.map((key) => ({ op: 'remove', key })));
      await store.purge();
      if (round === 3) console.log('working');
    }
  })();`;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'views-'))));
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true });
});

describe('a purge', () => {
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

  it('waits for those who read older rows, and nobody waits for it', async () => {
    const store = await open();
    const commit = writerOf(store);
    const rows = secretRows(400);
    await commit(rows);
    const reader = new Database(file(), { readonly: true });
    reader.exec('begin');
    reader.prepare('select count(*) from rows').get();
    await commit(removals(rows));
    let isPurged = false;
    const purged = store.purge().then(() => (isPurged = true));
    for (let n = 0; n < 20; n += 1) {
      const began = performance.now();
      await commit([{ op: 'put', key: 'other', row: { text: `other ${n}`, group: 'g' } }]);
      expect((await store.get('notes', 'other', 1))?.row['text']).toBe(`other ${n}`);
      expect(performance.now() - began).toBeLessThan(1_000);
    }
    expect(isPurged).toBe(false);
    expect(onDisk('SECRET')).not.toEqual([]);
    reader.exec('commit');
    reader.close();
    await purged;
    expect(onDisk('SECRET')).toEqual([]);
  });

  it.each([1, 2, 3])('leaves what is kept as it is, while two connections write and others read (%p)', async (seed) => {
    let state = seed;
    const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
    const [one, two] = [await open(), await open({ inThread: true })];
    const kept = new Map<string, string>();
    const round = (name: string): readonly Operation[] =>
      [...Array(150).keys()].map((): Operation => {
        const key = `${name}${random(500)}`;
        if (random(3) === 0) {
          kept.delete(key);
          return { op: 'remove', key };
        }
        const text = `${key} ${state} ${'text '.repeat(random(2) === 0 ? random(80) : random(3_000))}`;
        kept.set(key, text);
        return { op: 'put', key, row: { text, group: 'g' } };
      });
    const commits = [writerOf(one, 0), writerOf(two, 1)] as const;
    let isDone = false;
    const reading = (async () => {
      for (; !isDone; await nextTurn()) await one.find('notes', { where: { group: 'g' }, limit: 50 }, 1);
    })();
    for (let n = 0; n < 25; n += 1)
      await Promise.all([commits[0](round('a')), commits[1](round('b')), ...(n % 5 === 0 ? [one.purge()] : [])]);
    const removed = [...secretRows(300, 'a-x'), ...secretRows(300, 'b-x')];
    for (const commit of commits) {
      await commit(removed);
      await commit(removals(removed));
    }
    await one.purge();
    expect(onDisk('SECRET')).toEqual([]);
    isDone = true;
    await reading;
    const rows = raw((db) => db.prepare(`select key, row ->> '$.text' from rows order by key`).raw().all());
    expect(isWhole()).toBe('ok');
    expect(JSON.stringify(rows) === JSON.stringify([...kept].toSorted(([a], [b]) => (a < b ? -1 : 1)))).toBe(true);
  });

  it('clears a file that 1.5.0 wrote once, in which gaps of pages are as they were', async () => {
    const commit = writerOf(await open());
    const rows = secretRows(2_000);
    await commit(rows);
    await opened.splice(0)[0]?.close();
    // What that version left: all written back by SQLite, and removed rows beside those that are kept.
    raw((db) => {
      db.pragma('secure_delete = on');
      db.exec(`create table copy as select * from rows order by random(); delete from rows`);
      db.exec(
        `insert into rows select * from copy order by random(); drop table copy; delete from rows where row like '%SECRET-k-%1 %'; update head set loose = 1; pragma user_version = 0`,
      );
      db.pragma('wal_checkpoint(truncate)');
    });
    const gone = (): readonly string[] =>
      [...Array(200).keys()].filter((n) => onDisk(`SECRET-k-${n}1 `).length > 0).map((n) => `${n}1`);
    expect(gone()).not.toEqual([]);
    const store = await open();
    await store.purge();
    expect(gone()).toEqual([]);
    expect([isWhole(), await store.count('notes', undefined, 1)]).toEqual(['ok', 1_800]);
  });

  it('that is cut short by a kill is finished by the next', async () => {
    const first = await open();
    await writerOf(first)(
      [...Array(100).keys()].map((n) => ({ op: 'put', key: `kept${n}`, row: { text: 'kept', group: 'g' } })),
    );
    await opened.splice(0)[0]?.close();
    for (let round = 0; round < 4; round += 1) {
      const eraser = spawn(
        process.execPath,
        [
          '--require',
          './test/register.cjs',
          '-e',
          ENDLESS_ERASER.replace(
            'let number = 1',
            `let number = ${Number(raw((db) => db.prepare('select position from head').pluck().get()))}`,
          ),
          folder,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      await once(eraser.stdout, 'data');
      eraser.kill('SIGKILL');
      await once(eraser, 'exit');
      expect(isWhole()).toBe('ok');
    }
    const store = await open();
    const keys = (await store.scan('notes', 1, null, 10_000)).map(({ key }) => key);
    const left = keys.filter((key) => key.startsWith('gone'));
    expect(keys.length - left.length).toBe(100);
    const position = Number((await store.checkpoint('notes', 1))?.position);
    await store.commit({
      view: 'notes',
      version: 1,
      from: String(position),
      to: { position: String(position + 1), handled: 1 },
      fence: 1,
      changes: [
        {
          position: String(position + 1),
          operations: ['gone0', ...left].map((key): Operation => ({ op: 'remove', key })),
        },
      ],
    });
    await store.purge();
    expect(onDisk('SECRET')).toEqual([]);
  });
});
