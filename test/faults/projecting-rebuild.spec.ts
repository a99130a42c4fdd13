import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counted, opened } from '../fixtures/counters';
import { until } from '../fixtures/until';
import { inRound, rounds, seed, seededNumbers } from './log/rounds';
import { kill, startChild } from './projecting/child-process';
import {
  type CounterStores,
  expectViewIsFold,
  foldLog,
  openCounterStores,
  startWriters,
  viewText,
} from './projecting/counter-stores';

/** Fault 11: writers during catch-up and rebuild. Fault 15: rebuild while writing. Fault 16: kill -9 during a rebuild. */

const number = seededNumbers();
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'projecting-rebuild-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const fill = async ({ log }: CounterStores, streams: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: streams }, (_, index) =>
      log.append(`counter-${index}`, [opened(`n${index}`), ...Array.from({ length: 9 }, () => counted(2))], 'noStream'),
    ),
  );
};

test('no event is skipped or doubled while writers write during catch-up and rebuild', async () => {
  const stores = await openCounterStores(folder);
  await fill(stores, 500);
  const stop = startWriters(stores.log, 8);
  await stores.projecting.start();
  const rebuild = stores.projecting.rebuild('counters');
  for (const version of [2, 3]) {
    await rebuild.start({ swap: true });
    await until(async () => (await rebuild.status())?.state === 'swapped');
    expect(await stores.readStore.live('counters')).toBe(version);
    expect((await rebuild.status())?.verification).toMatchObject({ equal: true, differences: 0 });
    await rebuild.retire();
  }
  await stop();
  await expectViewIsFold(stores);
  await stores.close();
});

test('the old view is served until the switch, and no reader sees the view go back', async () => {
  const stores = await openCounterStores(folder);
  const { log, readStore, projecting } = stores;
  await fill(stores, 200);
  await projecting.start();
  const rebuild = projecting.rebuild('counters');
  await rebuild.start({ swap: true });
  const seen: number[] = [];
  for (let revision = 9; (await rebuild.status())?.state !== 'swapped' || seen.length < 50; revision += 1) {
    const { position } = await log.append('counter-0', [counted(1)], revision);
    expect(await projecting.waitFor('counters', position, 20_000)).toBe(true);
    seen.push(Number((await readStore.get('counters', 'counter-0'))?.row['count']));
  }
  expect(seen).toEqual(seen.map((_count, index) => 19 + index));
  await expectViewIsFold(stores);
  const [live, before] = [await viewText(readStore, 2), await viewText(readStore, 1)];
  expect(before).toBe(live);
  await stores.close();
});

/** Ten stretches of a rebuild: a long run kills in each of them, a short one somewhere. */
const POINTS = 10;
const pointOf = (round: number): number => (rounds(0) < POINTS ? number(POINTS) : round % POINTS);

test(
  `a rebuild killed at any point goes on, and the old view is served meanwhile (SEED=${seed})`,
  async () => {
    const filled = await openCounterStores(folder);
    await fill(filled, 2_000);
    await filled.close();
    for (let round = 0; round < rounds(2); round += 1) {
      await inRound(round, async () => {
        await kill(await startChild(folder, 'there', String((pointOf(round) + number(10) / 10) / POINTS)));
        const stores = await openCounterStores(folder);
        await stores.projecting.start();
        const rebuild = stores.projecting.rebuild('counters');
        await expectViewIsFold(stores);
        await until(async () => (await rebuild.status())?.state === 'swapped');
        await expectViewIsFold(stores);
        expect(await viewText(stores.readStore, (await rebuild.status())?.version ?? 0)).toBe(
          await foldLog(stores.log),
        );
        await rebuild.retire();
        expect(await stores.readStore.versions('counters')).toHaveLength(1);
        await stores.close();
      });
    }
  },
  60_000 + rounds(2) * 15_000,
);
