import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteReadStore, type ReadStore } from '@app/read-store';
import { counted, memoryProjecting, opened, until } from '../fixtures/counters';
import { MemoryLog } from '../fixtures/memory-log';
import type { MemoryReadStore } from '../fixtures/memory-read-store';

/** Fault 13: two projectors of the same name. Fault 14: a projector that was stopped and comes back must be refused. */

const LONG = 10_000;
let folder: string;
let readStore: ReadStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'projecting-leases-'));
  readStore = await openSqliteReadStore({ folder });
});
afterEach(async () => {
  await readStore.close();
  rmSync(folder, { recursive: true });
});

const projector = (log: MemoryLog, leaseMs?: number) => memoryProjecting({ log, readStore: readStore as unknown as MemoryReadStore, ...(leaseMs === undefined ? {} : { leaseMs }) });
const count = async (): Promise<unknown> => (await readStore.get('counters', 'counter-a'))?.row['count'];

test('of two projectors the one that started last advances, and every event is applied once', async () => {
  const log = new MemoryLog();
  const first = projector(log);
  await first.projecting.start();
  await log.append('counter-a', [opened('a')], 'noStream');
  const second = projector(log);
  await second.projecting.start();
  for (let revision = 0; revision < 50; revision += 1) await log.append('counter-a', [counted(1)], revision);
  expect(await second.projecting.waitFor('counters', (await log.head()) ?? '', LONG)).toBe(true);
  await until(async () => (await first.projecting.status('counters')).state === 'stopped');
  expect(await count()).toBe(50);
  expect(await second.projecting.status('counters')).toMatchObject({ state: 'live', deadLetters: 0 });
  await Promise.all([first.projecting.stop(), second.projecting.stop()]);
});

test('the writes of a projector that stood still while another took over are refused', async () => {
  const log = new MemoryLog();
  const stale = projector(log);
  await stale.projecting.start();
  await log.append('counter-a', [opened('a')], 'noStream');
  await stale.projecting.waitFor('counters', (await log.head()) ?? '', LONG);
  let go = (): void => undefined;
  const standing = new Promise<void>((resolve) => (go = resolve));
  const staleHands = new Set<unknown>();
  log.deliver = async (events, upTo, hand) => {
    staleHands.add(hand);
    await standing;
    await hand(events, upTo);
  };
  await log.append('counter-a', [counted(1)], 0);
  await until(() => staleHands.size === 1);
  const [staleHand] = staleHands;
  log.deliver = async (events, upTo, hand) => (hand === staleHand ? standing : hand(events, upTo));
  const next = projector(log);
  await next.projecting.start();
  expect(await next.projecting.waitFor('counters', (await log.head()) ?? '', LONG)).toBe(true);
  go();
  await until(async () => (await stale.projecting.status('counters')).state === 'stopped');
  await log.append('counter-a', [counted(1)], 1);
  expect(await next.projecting.waitFor('counters', (await log.head()) ?? '', LONG)).toBe(true);
  expect(await count()).toBe(2);
  await Promise.all([stale.projecting.stop(), next.projecting.stop()]);
});

test('a projector that stands by takes over when the leader is heard of no more', async () => {
  const log = new MemoryLog();
  const first = projector(log, 80);
  const second = projector(log, 80);
  await first.projecting.start();
  await second.projecting.start();
  await log.append('counter-a', [opened('a')], 'noStream');
  await until(async () => (await first.projecting.status('counters')).state === 'stopped');
  await second.projecting.stop();
  await until(async () => (await first.projecting.status('counters')).state === 'live');
  await log.append('counter-a', [counted(3)], 0);
  expect(await first.projecting.waitFor('counters', (await log.head()) ?? '', LONG)).toBe(true);
  expect(await count()).toBe(3);
  await first.projecting.stop();
});
