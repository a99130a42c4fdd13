import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Operation, openSqliteReadStore, type ReadStore, type Row, type ViewSpec } from '@app/read-store';

/**
 * The read store beside bare better-sqlite3 with the same table, index and settings: committing batches of rows, reading one
 * row, and finding a page of 50. Prints rates and ratios.
 */

const ROWS = Number(process.env['ROWS'] ?? 50_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const BATCH = 1_000;
const PAGE = 50;
const SPACES = 1_000;

const view: ViewSpec = {
  name: 'agents',
  version: 1,
  indexes: [{ name: 'by-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] }],
};
const keyOf = (n: number): string => `0199${String(n).padStart(8, '0')}-7000-8000-000000000000`;
const rowOf = (n: number): Row => ({
  id: keyOf(n),
  spaceId: `space-${n % SPACES}`,
  createdAt: n,
  name: `Agent ${n}`,
  description: 'd'.repeat(200),
  archived: false,
  tools: ['search', 'code'],
});
const batches = Array.from({ length: ROWS / BATCH }, (_, batch) =>
  Array.from({ length: BATCH }, (__, index) => batch * BATCH + index),
);
const position = (n: number): string => String(n).padStart(12, '0');

const inFolder = async <T>(work: (folder: string) => Promise<T> | T): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Seconds that a piece of work takes. */
const timed = async (work: () => Promise<void> | void): Promise<number> => {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
};

interface Figures {
  readonly commit: number;
  readonly point: number;
  readonly page: number;
  readonly coldPage: number;
}

const bare = (folder: string): Promise<Figures> => {
  const db = new Database(join(folder, 'bare.sqlite'));
  for (const pragma of ['journal_mode = WAL', 'synchronous = NORMAL', 'secure_delete = ON']) db.pragma(pragma);
  db.exec(`create table rows(key text primary key, position text, changed integer, row text);
    create index by_space on rows(row->>'$.spaceId', row->>'$.createdAt' desc, key desc)`);
  const upsert = db.prepare(
    'insert into rows values (?, ?, ?, ?) on conflict (key) do update set position = excluded.position, changed = excluded.changed, row = excluded.row',
  );
  const one = db.prepare('select row from rows where key = ?').pluck();
  const page = db
    .prepare(
      `select row from rows where row->>'$.spaceId' = ? order by row->>'$.createdAt' desc, key desc limit ${PAGE}`,
    )
    .pluck();
  return figures(
    async () =>
      batches.forEach((batch) =>
        db.transaction(() => batch.forEach((n) => upsert.run(keyOf(n), position(n), 1, JSON.stringify(rowOf(n)))))(),
      ),
    (n) => JSON.parse(one.get(keyOf(n)) as string),
    (n) => (page.all(`space-${n % SPACES}`) as string[]).map((text) => JSON.parse(text) as unknown),
  ).finally(() => db.close());
};

const store = async (folder: string, inThread: boolean): Promise<Figures> => {
  const opened = await openSqliteReadStore({ folder, inThread });
  await opened.prepare(view);
  await opened.swap('agents', undefined, 1);
  const found = await figures(
    async () => {
      for (const batch of batches) await commit(opened, batch);
    },
    (n) => opened.get('agents', keyOf(n)),
    (n) =>
      opened.find('agents', {
        where: { spaceId: `space-${n % SPACES}` },
        orderBy: [{ field: 'createdAt', order: 'desc' }],
        limit: PAGE,
      }),
  );
  await opened.close();
  return found;
};

const commit = (opened: ReadStore, batch: readonly number[]): Promise<void> => {
  const [first, last] = [batch[0] as number, batch.at(-1) as number];
  const changes = batch.map((n) => ({
    position: position(n),
    operations: [{ op: 'put', key: keyOf(n), row: rowOf(n) } satisfies Operation],
  }));
  return opened.commit({
    view: 'agents',
    version: 1,
    from: first === 0 ? null : position(first - 1),
    to: { position: position(last), handled: last + 1 },
    fence: 1,
    changes,
  });
};

/** Rows committed, rows read and pages found per second: rows and pages that are asked for again and again, and pages that were not read for long. */
const figures = async (
  fill: () => Promise<void>,
  point: (n: number) => unknown,
  page: (n: number) => unknown,
): Promise<Figures> => {
  const perSecond = async (count: number, different: number, read: (n: number) => unknown): Promise<number> => {
    const repeat = async (times: number): Promise<void> => {
      for (let n = 0; n < times; n += 1) await read((n * 7_919) % different);
    };
    await repeat(count / 10);
    return count / (await timed(() => repeat(count)));
  };
  const commit = ROWS / (await timed(fill));
  return {
    commit,
    point: await perSecond(100_000, 2_000, point),
    page: await perSecond(10_000, 100, page),
    coldPage: await perSecond(5_000, SPACES, page),
  };
};

const median = (all: readonly Figures[], figure: keyof Figures): number =>
  all.map((one) => one[figure]).toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;

const main = async (): Promise<void> => {
  const results = { bare: [] as Figures[], thread: [] as Figures[], inThread: [] as Figures[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    results.bare.push(await inFolder(bare));
    results.inThread.push(await inFolder((folder) => store(folder, true)));
    results.thread.push(await inFolder((folder) => store(folder, false)));
  }
  console.log(
    `${ROWS} rows of ${JSON.stringify(rowOf(1)).length} bytes in batches of ${BATCH}, median of ${ROUNDS} rounds`,
  );
  const print = (what: string, figure: keyof Figures, unit: string): void => {
    const base = median(results.bare, figure);
    for (const [name, all] of [
      ['bare better-sqlite3', results.bare],
      ['read store, one thread', results.inThread],
      ['read store, own thread', results.thread],
    ] as const) {
      const value = median(all, figure);
      console.log(
        `  ${what.padEnd(16)} ${name.padEnd(24)} ${Math.round(value).toLocaleString('en').padStart(10)} ${unit}/s ${(1e6 / value).toFixed(1).padStart(7)} us   ratio ${(value / base).toFixed(2)}`,
      );
    }
  };
  print('commit', 'commit', 'rows');
  print('point read', 'point', 'reads');
  print('find 50', 'page', 'pages');
  print('find 50, cold', 'coldPage', 'pages');
};

void main();
