import type { ChildProcess } from 'node:child_process';
import { eventually } from '../servers/cluster';
import { seed, seededNumbers } from './log/rounds';
import { lasting, startPacedWriter } from './mongo/mongo-counters';
import { isInstalled } from './mongo/server-process';
import { type CounterCluster, startCounterCluster } from './processes/counter-cluster';
import { foldLog, viewText } from './projecting/counter-stores';

/** Faults 14, 15 and 16 with projectors that are processes and share a rebuild: killed, stopped or added in the middle of it, while events arrive. */

const STREAMS = 600;
/** Somewhere in the rebuild, which takes longer. */
const MOST_MS = 1_500;
const number = seededNumbers();

const specs = (): void => {
  let cluster: CounterCluster;
  let projectors: readonly ChildProcess[];
  beforeEach(async () => {
    cluster = await startCounterCluster();
    projectors = [await cluster.start('a'), await cluster.start('b')];
    await divided(4, 4);
    await cluster.fill(STREAMS);
  });
  afterEach(() => cluster.destroy(), 60_000);

  const divided = (...shares: readonly number[]): Promise<void> =>
    eventually(async () => (await cluster.shares()).join() === shares.join(), `slices ${shares.join(' and ')}`);
  const rebuild = () => cluster.watcher.rebuild('counters');
  const oneOf = (children: readonly ChildProcess[]): ChildProcess => children[number(children.length)] as ChildProcess;

  it.each([
    [
      'killed, and another comes',
      async () => {
        await cluster.kill(oneOf(projectors));
        await cluster.start('c');
      },
      [4, 4],
    ],
    [
      'stopped until it has lost its slices, and goes on',
      async () => {
        const victim = oneOf(projectors);
        victim.kill('SIGSTOP');
        await divided(8);
        victim.kill('SIGCONT');
      },
      [4, 4],
    ],
    ['joined by another', async () => void (await cluster.start('c')), [3, 3, 2]],
  ])(
    `a projector is %s: the rebuild ends, and no event is lost or doubled (SEED=${seed})`,
    async (_, disturb, shares) => {
      const stopWriting = startPacedWriter(cluster.log);
      await rebuild().start({ swap: true });
      await lasting(number(MOST_MS));
      await disturb();
      await divided(...shares);
      await stopWriting();
      await eventually(async () => (await rebuild().status())?.state === 'swapped', 'the rebuild');
      expect((await rebuild().status())?.verification).toMatchObject({ equal: true, differences: 0 });
      expect(await cluster.watcher.waitFor('counters', (await cluster.log.head()) ?? '', 20_000)).toBe(true);
      expect(await cluster.watcher.deadLetters()).toEqual([]);
      expect(await cluster.readStore.live('counters')).toBe(2);
      const fold = await foldLog(cluster.log);
      expect(await viewText(cluster.readStore, 2)).toBe(fold);
      await eventually(async () => (await viewText(cluster.readStore, 1)) === fold, 'the build before');
    },
  );
};

describe('while projectors rebuild together', () =>
  isInstalled() ? specs() : it.todo('skipped: test/servers/mongodb.sh install was not run'));
