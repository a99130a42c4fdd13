import { createReadStream, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Operation, openSqliteReadStore, type ReadStore } from '@app/read-store';
import { openSqliteVault } from '@app/vault';

/**
 * A deletion in a large view: how long the purge takes, and how long commits and reads wait meanwhile, beside `VACUUM` of the same file,
 * which was the purge once. Looks for what was removed in every file. Then a key that is destroyed while a backup reads the vault: how
 * long those wait who make keys. With `test/register.cjs` of another checkout it measures that one, to compare with.
 * `GIGABYTES=10 TMPDIR=/large npm exec -- node --require ./test/register.cjs test/load/erase.ts`
 */

const GIGABYTES = Number(process.env['GIGABYTES'] ?? 0.5);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const ROW = 1_700;
const BATCH = 2_000;
const REMOVED = 50;
const SECRET = 'SECRET-OF-A-REMOVED-ROW';
const EVERY_MS = 5;
const READER_MS = 3_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** Does something again and again until it is told to stop; answers how long each took, milliseconds. */
const again = (work: (number: number) => Promise<unknown>): (() => Promise<readonly number[]>) => {
  const times: number[] = [];
  let isStopped = false;
  const working = (async () => {
    for (let number = 0; !isStopped; number += 1) {
      const began = performance.now();
      await work(number);
      times.push(performance.now() - began);
      await pause(EVERY_MS);
    }
  })();
  return async () => {
    isStopped = true;
    await working;
    return times;
  };
};

const shown = (times: readonly number[]): string =>
  `median ${(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0).toFixed(1)} ms, most ${Math.max(...times).toFixed(0)} ms (${times.length})`;

const holds = async (file: string, text: string): Promise<boolean> => {
  let tail = '';
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 4 * 1024 ** 2 })) {
    if ((tail + (chunk as string)).includes(text)) return true;
    tail = (chunk as string).slice(-text.length);
  }
  return false;
};

const gigabytes = (file: string): string => `${(statSync(file).size / 1024 ** 3).toFixed(2)} GB`;

class View {
  private number = 0;

  constructor(readonly store: ReadStore) {}

  commit(operations: readonly Operation[]): Promise<void> {
    const from = this.number === 0 ? null : String(this.number);
    this.number += 1;
    return this.store.commit({
      view: 'notes',
      version: 1,
      from,
      to: { position: String(this.number), handled: this.number },
      fence: 1,
      changes: [{ position: String(this.number), operations }],
    });
  }
}

/** In no order, as streams come. */
const keyOf = (number: number): string =>
  `${((number * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')}-${number}`;

const views = async (folder: string): Promise<void> => {
  const store = await openSqliteReadStore({ folder });
  await store.prepare({
    name: 'notes',
    version: 1,
    indexes: [{ name: 'by-group', fields: [{ field: 'group' }, { field: 'title' }] }],
  });
  const view = new View(store);
  const count = Math.ceil((GIGABYTES * 1024 ** 3) / ROW / BATCH) * BATCH;
  const step = Math.floor(count / (ROUNDS * REMOVED));
  for (let first = 0; first < count; first += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, index) => first + index);
    await view.commit(
      rows.map((n) => ({
        op: 'put',
        key: keyOf(n),
        row: {
          group: `g${n % 100}`,
          title: `Title ${n}`,
          text: (n % step === 0 ? `${SECRET} ` : 'kept text ').repeat(ROW).slice(0, ROW),
        },
      })),
    );
  }
  await store.purge();
  const file = join(folder, 'notes-v1.sqlite');
  say(`a view of ${count.toLocaleString('en')} rows, ${gigabytes(file)}; ${REMOVED} rows all over it are removed`);
  for (let round = 0; round < ROUNDS; round += 1) {
    await view.commit(
      Array.from({ length: REMOVED }, (_, n) => ({ op: 'remove', key: keyOf((round * REMOVED + n) * step) })),
    );
    const commits = again((number) =>
      view.commit([
        { op: 'put', key: `live-${number}`, row: { group: 'live', title: `Live ${number}`, text: 'x'.repeat(ROW) } },
      ]),
    );
    const reads = again((number) => store.find('notes', { where: { group: `g${number % 100}` }, limit: 50 }, 1));
    const began = performance.now();
    await store.purge();
    const took = performance.now() - began;
    say(`  purge ${took.toFixed(0)} ms; meanwhile commits ${shown(await commits())}, reads ${shown(await reads())}`);
  }
  // What is left of the last multiples of a step was not removed.
  await view.commit(
    Array.from({ length: Math.ceil(count / step) }, (_, n) => ({ op: 'remove', key: keyOf(n * step) })),
  );
  await store.purge();
  await store.close();
  const left: string[] = [];
  for (const name of readdirSync(folder)) if (await holds(join(folder, name), SECRET)) left.push(name);
  say(
    `  of the removed rows ${left.length === 0 ? 'nothing is left in any file' : `something is left in ${left.join(', ')}`}`,
  );
  const db = new Database(file);
  const began = performance.now();
  db.exec('vacuum');
  db.pragma('wal_checkpoint(truncate)');
  say(
    `  rewriting the file instead, in the only thread that writes: ${(performance.now() - began).toFixed(0)} ms for each`,
  );
  db.close();
};

const vault = async (folder: string): Promise<void> => {
  const opened = await openSqliteVault({ folder, wrappingKey: 'k'.repeat(40) });
  await Promise.all(Array.from({ length: 1_000 }, (_, n) => opened.ensureKey(`thing-${n}`, {})));
  // As a copy of the vault reads it: one state of it, for long.
  const reader = new Database(join(folder, 'vault.sqlite'), { readonly: true });
  reader.exec('begin');
  reader.prepare('select count(*) from keys').get();
  const made = again((number) => opened.ensureKey(`other-${number}`, {}));
  const began = performance.now();
  const destroyed = opened.destroy({ stream: 'thing-7' }).then(
    () => `${(performance.now() - began).toFixed(0)} ms`,
    (error: unknown) => String(error),
  );
  await pause(READER_MS);
  reader.close();
  say(
    `a key is destroyed while a backup reads for ${READER_MS} ms: ${await destroyed}; meanwhile others are made: ${shown(await made())}`,
  );
  await opened.close();
};

const main = async (): Promise<void> => {
  for (const work of [views, vault]) {
    const folder = mkdtempSync(join(tmpdir(), 'load-erase-'));
    try {
      await work(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
};

void main();
