import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as lasting } from 'node:timers/promises';
import { type CoordinationStore, openSqliteCoordinationStore } from '@app/coordination';
import { Unavailable } from '@app/kernel';
import type { Projection } from '@app/projecting';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import { counted, opened } from '../fixtures/counters';
import { MemoryLog } from '../fixtures/memory-log';
import { sharedCounters, type SharedProjector, sharedProjector } from '../fixtures/shared-projector';
import { until } from '../fixtures/until';

/** Fault 13: two projectors of the same name. Fault 14: a projector that was stopped and comes back must be rejected; as a process in `projecting-stop`. */

const LONG = 10_000;
const STREAMS = 16;
let folder: string;
let readStore: ReadStore;
let coordination: CoordinationStore;
let log: MemoryLog;
let projectors: SharedProjector[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'projecting-leases-'));
  readStore = await openSqliteReadStore({ folder });
  coordination = await openSqliteCoordinationStore({ folder });
  log = new MemoryLog();
  projectors = [];
});
afterEach(async () => {
  for (const projector of projectors) await projector.stop();
  await coordination.close();
  await readStore.close();
  rmSync(folder, { recursive: true });
});

const start = (name: string, ...more: readonly Projection[]): Promise<SharedProjector> => startOn({}, name, more);
const startOn = async (
  meddled: { readonly readStore?: ReadStore; readonly coordination?: CoordinationStore },
  name: string,
  more: readonly Projection[] = [],
): Promise<SharedProjector> => {
  const projector = sharedProjector({ name, log, readStore, coordination, ...meddled, more });
  projectors.push(projector);
  await projector.start();
  return projector;
};
const end = async (projector: SharedProjector): Promise<void> => {
  projectors.splice(projectors.indexOf(projector), 1);
  await projector.stop();
};
const openAll = async (): Promise<void> => {
  for (let number = 0; number < STREAMS; number += 1)
    await log.append(`counter-${number}`, [opened(`c${number}`)], 'noStream');
};
const countAll = async (revision: number | 'any'): Promise<void> => {
  for (let number = 0; number < STREAMS; number += 1) await log.append(`counter-${number}`, [counted(1)], revision);
};
const counts = async () =>
  (await readStore.find('counters', { orderBy: [{ field: 'name', order: 'asc' }], limit: 100 })).map(
    ({ row }) => row['count'],
  );
const shown = async (projector: SharedProjector): Promise<boolean> =>
  projector.projecting.waitFor('counters', (await log.head()) ?? '', LONG);
/** The store as one projector sees it: something happens ahead of each call of a method. */
const meddled = (method: 'checkpoint' | 'writeState', ahead: (...given: unknown[]) => Promise<void>): ReadStore =>
  new Proxy(readStore, {
    get: (target, name: keyof ReadStore) => {
      const own: unknown = target[name];
      if (typeof own !== 'function') return own;
      const called = (own as (...given: unknown[]) => unknown).bind(target);
      return name === method ? async (...given: unknown[]) => ahead(...given).then(() => called(...given)) : called;
    },
  });
const rebuilt = (): Promise<void> =>
  until(
    async () => ((await readStore.readState('rebuild/counters')) as { state: string }).state === 'swapped',
    'the rebuild',
    { patience: 20_000 },
  );
/** Each projector holds as many slices as there should be, in the order of their names. */
const divided = (...shares: readonly number[]): Promise<void> =>
  until(() => projectors.every(({ slices }, index) => slices() === shares[index]));

test('projectors share the slices fairly, take over those of one that leaves, and every event is applied once', async () => {
  const first = await start('a');
  await openAll();
  await divided(8);
  const second = await start('b');
  await divided(4, 4);
  await countAll(0);
  expect(await shown(first)).toBe(true);
  await start('c');
  await until(
    () =>
      projectors.every(({ slices }) => slices() >= 2) &&
      projectors.reduce((sum, { slices }) => sum + slices(), 0) === 8,
  );
  await countAll(1);
  await end(second);
  await divided(4, 4);
  await countAll(2);
  expect(await shown(first)).toBe(true);
  expect(await counts()).toEqual(Array.from({ length: STREAMS }, () => 3));
  expect(await first.projecting.status('counters')).toMatchObject({
    state: 'live',
    lagEvents: 0,
    deadLetters: 0,
    rows: STREAMS,
  });
});

test('a projector that stands still loses its slices, and its writes are rejected when it goes on', async () => {
  const stale = await start('a');
  await start('b');
  await divided(4, 4);
  await openAll();
  expect(await shown(stale)).toBe(true);
  // It stands still in the middle of its work: it holds pages in hand, and heartbeats no more.
  let go = (): void => undefined;
  const current = new Promise<void>((resolve) => (go = resolve));
  stale.standStill(current);
  await countAll(0);
  const [, other] = projectors as [SharedProjector, SharedProjector];
  await until(() => other.slices() === 8);
  expect(await shown(other)).toBe(true);
  go();
  await divided(4, 4);
  await countAll(1);
  expect(await shown(other)).toBe(true);
  expect(await counts()).toEqual(Array.from({ length: STREAMS }, () => 2));
  expect((await other.projecting.status('counters')).deadLetters).toBe(0);
});

test('a process that writes nothing itself knows when a view shows a write, and has operators answered', async () => {
  await start('a');
  await start('b');
  await divided(4, 4);
  const watcher = sharedProjector({ name: 'w', log, readStore, coordination });
  await openAll();
  expect(await shown(watcher)).toBe(true);
  expect(await counts()).toHaveLength(STREAMS);
  const { position } = await log.append('counter-3', [counted(13)], 0);
  expect(await watcher.projecting.waitFor('counters', position, LONG)).toBe(true);
  const [letter] = await watcher.projecting.deadLetters();
  expect(letter).toMatchObject({ stream: 'counter-3', reason: 'apply' });
  expect(await watcher.projecting.retryDeadLetter(letter?.id ?? '')).toMatchObject({ attempts: 2 });
  expect(await watcher.projecting.discardDeadLetter(letter?.id ?? '')).toBeUndefined();
  await watcher.projecting.rebuild('counters').start({ swap: true });
  await expect(watcher.projecting.rebuild('counters').start({ swap: false })).rejects.toMatchObject({
    code: 'rebuild_exists',
  });
  await until(async () => (await watcher.projecting.rebuild('counters').status())?.state === 'swapped');
  expect((await watcher.projecting.status('counters')).rebuild?.verification).toMatchObject({
    equal: true,
    rows: STREAMS,
  });
  await watcher.projecting.rebuild('counters').retire();
  expect(await readStore.versions('counters')).toEqual([2]);
  await countAll('any');
  await divided(4, 4);
  expect(await shown(watcher)).toBe(true);
  expect(await counts()).toEqual(Array.from({ length: STREAMS }, () => 1));
});

test('views that are rebuilt at once by projectors that lead one each do not wait for each other for ever', async () => {
  const second = { ...sharedCounters, name: 'counters-too' };
  const projector = await start('a', second);
  await start('b', second);
  await divided(4, 4);
  await openAll();
  const rebuilds = ['counters', 'counters-too'].map((view) => projector.projecting.rebuild(view));
  await Promise.all(rebuilds.map((rebuild) => rebuild.start({ swap: true })));
  await until(
    async () =>
      (await Promise.all(rebuilds.map((rebuild) => rebuild.status()))).every((status) => status?.state === 'swapped'),
    'both rebuilds',
  );
  expect(await counts()).toHaveLength(STREAMS);
});

test('a leader that cannot begin anew from what another has decided tries again', async () => {
  const leader = await start('a');
  await openAll();
  await leader.projecting.rebuild('counters').start({ swap: true });
  await until(async () => (await leader.projecting.rebuild('counters').status())?.state === 'swapped');
  // As another leader would roll back; the first thing that this one reads then fails.
  let failures = 1;
  const checkpoint = readStore.checkpoint.bind(readStore);
  jest
    .spyOn(readStore, 'checkpoint')
    .mockImplementation(async (...asked) =>
      (failures -= 1) === 0 ? Promise.reject(new Unavailable('views', 'away')) : checkpoint(...asked),
    );
  await readStore.swap('counters', 2, 1);
  await readStore.writeState('rebuild/counters', {
    ...((await readStore.readState('rebuild/counters')) as object),
    state: 'ready',
  });
  await until(() => failures <= 0, 'a failure');
  await countAll(0);
  expect(await shown(leader)).toBe(true);
  // It shows a position a moment before it says that there is no more.
  await until(async () => (await leader.projecting.status('counters')).state === 'live', 'the view to be live');
  expect(await leader.projecting.status('counters')).toMatchObject({ version: 1, rebuild: { state: 'ready' } });
});

test('slices that come together and cannot be opened for a while come together later, and the rebuild ends', async () => {
  let failures = 40;
  const store = meddled('checkpoint', async () => {
    const [lease] = await coordination.list('lease/');
    if ((lease?.value as { wanted?: string } | undefined)?.wanted !== undefined && (failures -= 1) >= 0)
      throw new Unavailable('views', 'away');
  });
  const leader = await startOn({ readStore: store }, 'a');
  await start('b');
  await divided(4, 4);
  await openAll();
  await leader.projecting.rebuild('counters').start({ swap: true });
  await rebuilt();
  expect(failures).toBeLessThan(0);
  await divided(4, 4);
  await countAll(0);
  expect(await shown(leader)).toBe(true);
});

test('a projector that joins while builds are compared gets its slices afterwards', async () => {
  const comparing = Promise.withResolvers<void>();
  const joined = Promise.withResolvers<void>();
  const store = meddled('writeState', async (_, value) => {
    if ((value as { state?: string } | null)?.state !== 'verifying') return;
    comparing.resolve();
    await joined.promise;
  });
  const leader = await startOn({ readStore: store }, 'a');
  await openAll();
  await divided(8);
  await leader.projecting.rebuild('counters').start({ swap: true });
  await comparing.promise;
  const other = await start('b');
  // It asks for its share with each heartbeat, and gets none while the builds are compared.
  await expect(until(() => other.slices() > 0, 'a slice', { patience: 1_000 })).rejects.toThrow('a slice did not come');
  joined.resolve();
  await rebuilt();
  await divided(4, 4);
  expect(await leader.projecting.status('counters')).toMatchObject({
    version: 2,
    state: 'live',
    rebuild: { verification: { equal: true } },
  });
});

test('slices stay where builds are compared, although a heartbeat had read who held them before', async () => {
  const [comparing, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isHeld = false;
  const slow = meddled('writeState', async (_, value) => {
    if ((value as { state?: string } | null)?.state !== 'verifying') return;
    comparing.resolve();
    // Time for the heartbeat to go on.
    await lasting(300);
  });
  const late: CoordinationStore = Object.assign(Object.create(coordination) as CoordinationStore, {
    list: async (...asked: Parameters<CoordinationStore['list']>) => {
      const page = await coordination.list(...asked);
      if (isHeld && asked[0] === 'lease/') {
        read.resolve();
        await comparing.promise;
      }
      return page;
    },
  });
  const leader = await startOn({ readStore: slow, coordination: late }, 'a');
  await start('b');
  await divided(4, 4);
  await openAll();
  isHeld = true;
  await read.promise;
  await leader.projecting.rebuild('counters').start({ swap: true });
  await rebuilt();
  expect(leader.logger.lines.join()).not.toContain('Another process has taken over.');
  await divided(4, 4);
});
