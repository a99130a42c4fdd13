import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { callThread, startThread } from '@app/kernel';
import type { RebuildWorker } from '@app/projecting';
import { type Measured, measured, printRatio } from './measured';
import { fillNotes } from './notes';

/**
 * Rebuild of a simple view: by the rebuild thread of the product, and by a bare loop that reads the same log, parses each
 * event and upserts a row of the same fields. Prints rates and their ratio, for a log in which 1,000 aggregates are worked on
 * at a time, ten events each, and for the worst case, where the events of an aggregate stand as far apart as they can.
 */

const EVENTS = Number(process.env['EVENTS'] ?? 200_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const PER_THING = 10;
const AT_A_TIME = 1_000;
const PAGE = 1_000;

/** The aggregate that the n-th event is about. */
type Order = (number: number) => number;
const together: Order = (number) => Math.floor(number / (PER_THING * AT_A_TIME)) * AT_A_TIME + (number % AT_A_TIME);
const apart: Order = (number) => number % (EVENTS / PER_THING);

const product = async (log: string, views: string, version: number): Promise<Measured> => {
  const calls = callThread<RebuildWorker>(
    'rebuild',
    () =>
      startThread(__dirname, 'rebuild.thread', __filename, {
        workerData: { log, views },
        resourceLimits: { maxYoungGenerationSizeMb: 64 },
      }),
    [],
  );
  await calls.call('progress', 'notes');
  const rate = await measured(EVENTS, async () => {
    const { outcome, handled } = await calls.call('build', {
      view: 'notes',
      version,
      held: new Map([[0, 1]]),
      shared: false,
      skip: [],
    });
    if (outcome !== 'caught-up' || handled !== EVENTS)
      throw new Error(`the rebuild ended with ${outcome} after ${handled} events`);
  });
  await calls.close();
  return rate;
};

const bare = (log: string, file: string): void => {
  const source = new Database(join(log, 'events.sqlite'), { readonly: true });
  const target = new Database(file);
  target.pragma('journal_mode = WAL');
  target.pragma('synchronous = NORMAL');
  target.exec('create table rows(key text primary key, position integer not null, row text not null) without rowid');
  const read = source
    .prepare('select position, stream, type, data, metadata from events where position > ? order by position limit ?')
    .raw();
  const upsert = target.prepare(
    'insert into rows values (?, ?, ?) on conflict (key) do update set position = excluded.position, row = excluded.row',
  );
  let position = 0;
  for (;;) {
    const rows = read.all(position, PAGE) as [number, string, string, string, string][];
    if (rows.length === 0) break;
    target.transaction(() => {
      for (const [at, stream, , text, metadata] of rows) {
        const data = JSON.parse(text) as { title: string; pinned: boolean; size: number };
        const { recordedAt } = JSON.parse(metadata) as { recordedAt: string };
        upsert.run(
          stream,
          at,
          JSON.stringify({ title: data.title, pinned: data.pinned, size: data.size, updatedAt: recordedAt }),
        );
        position = at;
      }
    })();
  }
  source.close();
  target.close();
};

const compare = async (title: string, order: Order): Promise<void> => {
  const folder = mkdtempSync(join(process.cwd(), '.bench-'));
  try {
    const log = join(folder, 'log');
    await fillNotes(log, EVENTS, (number) => `note-${order(number)}`);
    const rates = { product: [] as Measured[], bare: [] as Measured[] };
    for (let round = 1; round <= ROUNDS; round += 1) {
      rates.bare.push(await measured(EVENTS, async () => bare(log, join(folder, `bare-${round}.sqlite`))));
      rates.product.push(await product(log, join(folder, 'views'), round));
    }
    console.log(`rebuild of a simple view from ${EVENTS} events, ${title}, median of ${ROUNDS} rounds`);
    printRatio('events', { name: 'rebuild thread', rounds: rates.product }, { name: 'bare loop', rounds: rates.bare });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const main = async (): Promise<void> => {
  await compare(`${AT_A_TIME} aggregates at a time`, together);
  await compare('each aggregate all over the log', apart);
};

void main();
