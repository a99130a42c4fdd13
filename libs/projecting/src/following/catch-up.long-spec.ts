import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openSqliteEventLog } from '@app/event-log';
import { callHere, type NewEvent, systemClock, Unavailable } from '@app/kernel';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import {
  counted,
  counterCodec,
  counters,
  elsewhere,
  leasesAlone,
  MemoryLogger,
  opened,
} from '../../../../test/fixtures/counters';
import { until } from '../../../../test/fixtures/until';
import { FAR_EVENTS } from './catch-up';
import { Projecting, type ProjectingOptions } from '../projecting';
import type { RowProjection } from '../projection';
import type { CatchUpWorker } from '../rebuild/catch-up-worker';
import { contextWorker } from '../rebuild/context-worker';
import { type RebuildThreads, type RebuildWorker, rebuildWorker } from '../rebuild/rebuild-worker';

const STREAMS = 20;
const EVENTS = 12_000;
const VIEWS = ['counters', 'second', 'third'];

let folder: string;
let log: EventLog;
let readStore: ReadStore;
let projecting: Projecting | undefined;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'catch-up-'));
  log = await openSqliteEventLog({ folder: join(folder, 'log') });
  readStore = await openSqliteReadStore({ folder: join(folder, 'views') });
  for (let stream = 0; stream < STREAMS; stream += 1)
    await append(stream, [
      opened(`counter ${stream}`),
      ...Array.from({ length: EVENTS / STREAMS - 2 }, () => counted()),
      elsewhere(),
    ]);
});
afterEach(async () => {
  await projecting?.stop();
  await readStore.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

const append = (stream: number, events: readonly NewEvent[]) => log.append(`counter-${stream}`, events, 'any');

const countersOf = (name: string): RowProjection => ({ ...counters, name });

/** What the threads that rebuild are asked, in this one. */
const start = async (projections = VIEWS.map(countersOf)) => {
  const logger = new MemoryLogger();
  const none = {} as Pick<ProjectingOptions, 'searchIndex' | 'blobs'>;
  const options = {
    ...none,
    log,
    readStore,
    codec: counterCodec,
    projections,
    clock: systemClock,
    logger,
    leases: leasesAlone(logger),
  };
  const runs: string[][] = [];
  const threads = new Map<string, keyof RebuildThreads>();
  const seen = <W extends CatchUpWorker>(thread: keyof RebuildThreads, worker: W): W => ({
    ...worker,
    catchUp: (tasks) => {
      runs.push(tasks.map(({ view }) => view));
      for (const { view } of tasks) threads.set(view, thread);
      return worker.catchUp(tasks);
    },
  });
  const rows = projections.filter((projection) => projection.contextOnly === true);
  const spawn: RebuildThreads = {
    rebuild: () => callHere<RebuildWorker>(seen('rebuild', rebuildWorker(options))),
    context: () => callHere<CatchUpWorker>(seen('context', contextWorker({ ...options, projections: rows }))),
  };
  projecting = new Projecting({ ...options, spawn });
  await projecting.start();
  return { projecting, runs, threads, logger };
};

const allLive = async (running: Projecting): Promise<void> => {
  const head = (await log.head()) as string;
  for (const view of VIEWS) await until(() => running.waitFor(view, head, 1_000), view);
};

const counts = async (view: string): Promise<unknown[]> =>
  (await readStore.scan(view, 1, null, 100)).map(({ row }) => row['count']);

describe('views that are far behind', () => {
  it('are caught up together, each event read once for all of them, and follow from there', async () => {
    const { projecting: running, runs } = await start();
    await allLive(running);
    expect(runs.flat().toSorted()).toEqual(VIEWS.toSorted());
    expect(runs.length).toBeLessThan(VIEWS.length);
    for (const view of VIEWS)
      expect(await counts(view)).toEqual(Array.from({ length: STREAMS }, () => EVENTS / STREAMS - 2));

    await append(3, [counted(5)]);
    await allLive(running);
    for (const view of VIEWS) expect((await readStore.get(view, 'counter-3'))?.row['count']).toBe(EVENTS / STREAMS + 3);
    expect(runs.flat()).toHaveLength(VIEWS.length);
  });

  it('are handed over before anything is read for them', async () => {
    const subscribed = jest.spyOn(log, 'subscribe');
    const { projecting: running, runs } = await start();
    await allLive(running);
    const starts = subscribed.mock.calls.map(([{ name, after }]) => [name.split('/')[0], after]);
    const head = (await log.head()) as string;
    expect(starts.toSorted()).toEqual(VIEWS.map((view) => [view, head]));
    expect(runs.flat()).toHaveLength(VIEWS.length);
  });

  it('read the log themselves while it does not say how far behind they are, and are handed over then', async () => {
    const subscribed = jest.spyOn(log, 'subscribe');
    const readAll = log.readAll.bind(log);
    // Views ask for events of all types, whoever reads for them for their own.
    jest
      .spyOn(log, 'readAll')
      .mockImplementation((options) =>
        options?.limit === FAR_EVENTS && options.filter === undefined
          ? Promise.reject(new Unavailable('log', 'it is closed'))
          : readAll(options),
      );
    const { projecting: running, runs } = await start();
    await allLive(running);
    expect(subscribed.mock.calls.filter(([{ after }]) => after === null)).toHaveLength(VIEWS.length);
    expect(runs.flat().toSorted()).toEqual(VIEWS.toSorted());
  });

  it('are caught up in a thread of their own where they read no data', async () => {
    const places: RowProjection = {
      ...countersOf('places'),
      contextOnly: true,
      indexes: [],
      apply: ({ context }) => [{ op: 'put', key: context.position, row: { name: context.stream, count: 1 } }],
    };
    const { projecting: running, threads } = await start([countersOf('counters'), places]);
    const head = (await log.head()) as string;
    for (const view of ['counters', 'places']) await until(() => running.waitFor(view, head, 1_000), view);
    expect(threads).toEqual(
      new Map([
        ['counters', 'rebuild'],
        ['places', 'context'],
      ]),
    );
    expect(await readStore.count('places')).toBe(EVENTS - STREAMS);
  });

  it('park an event that cannot be handled, and all other streams flow', async () => {
    await append(1, [counted(13), counted(1)]);
    for (let stream = 2; stream < STREAMS; stream += 1)
      await append(
        stream,
        Array.from({ length: 400 }, () => counted()),
      );
    const { projecting: running } = await start();
    await allLive(running);
    const letters = await running.deadLetters();
    expect(letters.map(({ name, stream, reason }) => [name, stream, reason])).toEqual(
      VIEWS.map((view) => [view, 'counter-1', 'apply']).toSorted(),
    );
    expect((await readStore.get('second', 'counter-2'))?.row['count']).toBe(EVENTS / STREAMS - 2 + 400);
  });

  it('stop at once, and go on from there without handling anything twice', async () => {
    const { projecting: running, runs } = await start();
    await until(() => runs.length > 0, 'a run');
    await running.stop();
    projecting = undefined;
    const again = await start();
    await allLive(again.projecting);
    for (const view of VIEWS)
      expect(await counts(view)).toEqual(Array.from({ length: STREAMS }, () => EVENTS / STREAMS - 2));
    expect(again.logger.lines.filter((line) => line.includes('dead letter'))).toEqual([]);
  });

  it('handle what is appended meanwhile', async () => {
    const { projecting: running, runs } = await start();
    await until(() => runs.length > 0, 'a run');
    for (let round = 0; round < 50; round += 1) await append(0, [counted()]);
    await allLive(running);
    for (const view of VIEWS)
      expect((await readStore.get(view, 'counter-0'))?.row['count']).toBe(EVENTS / STREAMS - 2 + 50);
  });
});
