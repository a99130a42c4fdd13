import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openSqliteLogReader } from '@app/event-log';
import { systemClock } from '@app/kernel';
import { rebuildWorker } from '@app/projecting';
import { openMongoReadStore, openMongoServer } from '@app/read-store';
import { type Measured, measured, printRatio } from './measured';
import { fillNotes, notesCodec, notesView } from './notes';

/**
 * Rebuild of a simple view into MongoDB: by the product, and by a bare loop that reads the same log, parses each event and
 * upserts a row of the same fields with the driver's bulk writes, a page at a time. `MONGODB_URL` names the server. Prints rates
 * and their ratio, for a log in which every event is of an aggregate of its own, and for one with ten events of each aggregate.
 */

const EVENTS = Number(process.env['EVENTS'] ?? 20_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const PAGE = 1_000;
const URL = process.env['MONGODB_URL'] ?? 'mongodb://127.0.0.1:27947/';

/** The note that an event is about: so many events of each, 1,000 notes at a time. */
const streamOf = (number: number, perThing: number): string =>
  `note-${Math.floor(number / (perThing * 1_000)) * 1_000 + (number % 1_000)}-${perThing === 1 ? number : 0}`;

const product = async (folder: string, url: string): Promise<Measured> => {
  const log = await openSqliteLogReader({ folder });
  const readStore = await openMongoReadStore({ url });
  const none = {} as Pick<Parameters<typeof rebuildWorker>[0], 'searchIndex' | 'blobs'>;
  const worker = rebuildWorker({
    ...none,
    log,
    readStore,
    codec: notesCodec,
    clock: systemClock,
    projections: [notesView],
  });
  const rate = await measured(EVENTS, async () => {
    const { outcome, handled } = await worker.build({
      view: 'notes',
      version: 1,
      held: new Map([[0, 1]]),
      shared: false,
      skip: [],
    });
    if (outcome !== 'caught-up' || handled !== EVENTS)
      throw new Error(`the rebuild ended with ${outcome} after ${handled} events`);
  });
  await readStore.close();
  await log.close();
  return rate;
};

const bare = async (folder: string, url: string): Promise<Measured> => {
  const source = new Database(join(folder, 'events.sqlite'), { readonly: true });
  const read = source
    .prepare('select position, stream, data, metadata from events where position > ? order by position limit ?')
    .raw();
  const server = await openMongoServer({ url, dependency: 'bench' });
  const rows = server.db.collection<{ _id: string }>('bare');
  const rate = await measured(EVENTS, async () => {
    for (let after = 0; ;) {
      const page = read.all(after, PAGE) as [number, string, string, string][];
      if (page.length === 0) break;
      await rows.bulkWrite(
        page.map(([position, stream, text, metadata]) => {
          const { title, pinned, size } = JSON.parse(text) as { title: string; pinned: boolean; size: number };
          const { recordedAt } = JSON.parse(metadata) as { recordedAt: string };
          return {
            replaceOne: {
              filter: { _id: stream },
              replacement: { position, title, pinned, size, updatedAt: recordedAt },
              upsert: true,
            },
          };
        }),
        { ordered: false },
      );
      after = page.at(-1)?.[0] ?? after;
    }
  });
  source.close();
  await server.close();
  return rate;
};

/** Runs work with a database of its own. */
const inDatabase = async (work: (url: string) => Promise<Measured>): Promise<Measured> => {
  const url = URL.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/bench-${randomUUID()}`);
  try {
    return await work(url);
  } finally {
    const server = await openMongoServer({ url, dependency: 'bench' });
    await server.db.dropDatabase();
    await server.close();
  }
};

const compare = async (title: string, perThing: number): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    await fillNotes(folder, EVENTS, (number) => streamOf(number, perThing));
    const rates = { product: [] as Measured[], bare: [] as Measured[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(await inDatabase((url) => bare(folder, url)));
      rates.product.push(await inDatabase((url) => product(folder, url)));
    }
    console.log(`rebuild of a simple view into MongoDB from ${EVENTS} events, ${title}, median of ${ROUNDS} rounds`);
    printRatio('events', { name: 'product', rounds: rates.product }, { name: 'bare bulk writes', rounds: rates.bare });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const main = async (): Promise<void> => {
  await compare('each of an aggregate of its own', 1);
  await compare('ten of each aggregate', 10);
};

void main();
