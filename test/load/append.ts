import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { eventMacOf, openSqliteEventLog, stampAppends } from '@app/event-log';
import { type NewEvent, startThread, threadEnds, TimeOrderedIds } from '@app/kernel';
import type { BareRow } from './bare-append.thread';

/**
 * Durable appends at 256 concurrent callers: through the log as the product has it, without MACs, through a bare group-commit loop in a worker thread that
 * writes the same rows, and with one sync per append. Prints rates, ratios and the lag of the main loop; and, as what no
 * log on SQLite can pass at so many callers however it syncs, the same rows 256 a commit with no thread and no sync at all.
 */

const CALLERS = 256;
const APPENDS = Number(process.env['APPENDS'] ?? 150_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SINGLE_MS = 1_000;
const STREAMS = 20_000;

const data = JSON.stringify({ text: randomBytes(180).toString('hex'), numbers: [1, 2, 3], note: 'x'.repeat(120) });
const metadata = JSON.stringify({
  $correlationId: randomUUID(),
  commandId: randomUUID(),
  actor: 'user:bench',
  schema: '1',
});
/** Named as the product names streams, by ids that are ordered by time; used in no order, as people come back to older aggregates. */
const streamIds = new TimeOrderedIds();
const streams = Array.from({ length: STREAMS }, () => ({ name: `bench-${streamIds.next()}`, order: Math.random() }))
  .toSorted((a, b) => a.order - b.order)
  .map(({ name }) => name);
const streamsOf = Array.from({ length: CALLERS }, (_, caller) =>
  streams.filter((_stream, index) => index % CALLERS === caller),
);
const ids = Array.from({ length: APPENDS }, () => randomUUID());

type Append = (stream: string, revision: number, event: NewEvent) => Promise<unknown>;

/** Runs all appends from concurrent callers, each stream belonging to one of them; answers appends per second. */
const rate = async (append: Append): Promise<number> => {
  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      const own = streamsOf[caller] as string[];
      for (let turn = 0; next < APPENDS; turn += 1) {
        const event = { id: ids[next++] as string, type: 'BenchEvent', data, metadata };
        await append(own[turn % own.length] as string, Math.floor(turn / own.length), event);
      }
    }),
  );
  return APPENDS / ((performance.now() - started) / 1000);
};

const mac = eventMacOf('the secret of a benchmark, not of an instance');

const throughTheLog = async (folder: string, withMacs: boolean): Promise<{ rate: number; lag: IntervalHistogram }> => {
  const log = await openSqliteEventLog({ folder });
  if (withMacs) stampAppends(log, mac);
  const lag = monitorEventLoopDelay({ resolution: 1 });
  try {
    lag.enable();
    return {
      rate: await rate((stream, revision, event) =>
        log.append(stream, [event], revision === 0 ? 'noStream' : revision - 1),
      ),
      lag,
    };
  } finally {
    lag.disable();
    await log.close();
  }
};

const bare = async (folder: string): Promise<number> => {
  const thread = startThread(__dirname, 'bare-append.thread', __filename, {
    workerData: { file: join(folder, 'bare.sqlite') },
  });
  const waiting: ((position: number) => void)[] = [];
  let rows: BareRow[] = [];
  thread.on('message', (positions: number[]) => {
    const done = waiting.splice(0, positions.length);
    positions.forEach((position, index) => done[index]?.(position));
  });
  try {
    return await rate(
      (stream, revision, { id, type, data: body, metadata: meta }) =>
        new Promise((resolve) => {
          waiting.push(resolve);
          if (rows.push([stream, revision, id, type, body, meta]) > 1) return;
          setImmediate(() => {
            thread.postMessage(rows);
            rows = [];
          });
        }),
    );
  } finally {
    thread.postMessage('close');
    await threadEnds(thread);
  }
};

/** Microseconds to learn that a stream has nothing new: what every decision asks first. */
const readBeyondTheEnd = async (folder: string): Promise<number> => {
  const log = await openSqliteEventLog({ folder });
  const reads = 200_000;
  await log.append('bench-read', [{ id: randomUUID(), type: 'BenchEvent', data, metadata }], 'noStream');
  const started = performance.now();
  for (let read = 0; read < reads; read += 1) await log.readStream('bench-read', { from: 1 });
  const each = ((performance.now() - started) * 1000) / reads;
  await log.close();
  return each;
};

/** Rows a second without threads or messages: `group` rows a commit. */
const inPlace = (folder: string, synchronous: 'FULL' | 'OFF', group: number): number => {
  const database = new Database(join(folder, 'single.sqlite'));
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${synchronous}`);
  database.exec(
    'CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT, revision INTEGER, id TEXT, type TEXT, data TEXT, metadata TEXT) STRICT; CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)',
  );
  const insert = database.prepare(
    'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const started = performance.now();
  let count = 0;
  const commit = database.transaction(() => {
    for (const end = count + group; count < end; count += 1)
      insert.run(
        streams[count % STREAMS],
        Math.floor(count / STREAMS),
        ids[count % APPENDS],
        'BenchEvent',
        data,
        metadata,
      );
  });
  while (performance.now() - started < SINGLE_MS) commit();
  const perSecond = count / ((performance.now() - started) / 1000);
  database.close();
  return perSecond;
};

const inFolder = async <T>(work: (folder: string) => T | Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(process.cwd(), '.bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`;

interface Round {
  readonly log: number;
  readonly unstamped: number;
  readonly bare: number;
  readonly single: number;
  readonly unsynced: number;
  readonly lag: IntervalHistogram;
}

/** All in turn, so that what else the machine does falls on all. */
const round = async (): Promise<Round> => {
  const single = await inFolder((folder) => inPlace(folder, 'FULL', 1));
  const unsynced = await inFolder((folder) => inPlace(folder, 'OFF', CALLERS));
  const bareRate = await inFolder(bare);
  const { rate: unstamped } = await inFolder((folder) => throughTheLog(folder, false));
  const { rate: log, lag } = await inFolder((folder) => throughTheLog(folder, true));
  return { log, unstamped, bare: bareRate, single, unsynced, lag };
};

const main = async (): Promise<void> => {
  const rounds: Round[] = [];
  while (rounds.length < ROUNDS) rounds.push(await round());
  const medianOf = (value: (of: Round) => number): number => median(rounds.map(value));
  console.log(`${APPENDS} durable appends from ${CALLERS} callers, medians of ${ROUNDS} rounds`);
  console.log(`  event log                 ${perSecond(medianOf(({ log }) => log))}`);
  console.log(
    `  without MACs              ${perSecond(medianOf(({ unstamped }) => unstamped))}   ratio ${medianOf(({ log, unstamped }) => log / unstamped).toFixed(2)} (target 0.90)`,
  );
  console.log(
    `  bare group-commit loop    ${perSecond(medianOf(({ bare: rate }) => rate))}   ratio ${medianOf(({ log, bare: rate }) => log / rate).toFixed(2)} (target 0.70)`,
  );
  console.log(
    `  one sync per append       ${perSecond(medianOf(({ single }) => single))}   ratio ${medianOf(({ log, single }) => log / single).toFixed(1)} (target 20)`,
  );
  console.log(
    `  ${CALLERS} a commit, no sync    ${perSecond(medianOf(({ unsynced }) => unsynced))}   ratio of this to one sync per append ${medianOf(({ unsynced, single }) => unsynced / single).toFixed(1)}`,
  );
  console.log(`  read of a stream beyond its known end: ${(await inFolder(readBeyondTheEnd)).toFixed(2)} us`);
  const most = Math.max(...rounds.map(({ lag }) => lag.max));
  console.log(
    `  main loop lag while the log works: p99 ${(medianOf(({ lag }) => lag.percentile(99)) / 1e6).toFixed(1)} ms, most ${(most / 1e6).toFixed(1)} ms (target 50)`,
  );
};

void main();
