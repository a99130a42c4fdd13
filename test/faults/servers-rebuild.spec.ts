import { eventually } from '../servers/cluster';
import { awayMs, seed, seededNumbers } from './log/rounds';
import { lasting, startPacedWriter } from './mongo/mongo-counters';
import { isInstalled } from './mongo/server-process';
import { type CounterCluster, startCounterCluster } from './processes/counter-cluster';
import { foldLog, viewText } from './projecting/counter-stores';

/** A server that is gone in the middle of a rebuild by two projectors, while events arrive: for a second, or for `AWAY_SECONDS`. */

const STREAMS = 600;
const AWAY_MS = awayMs(1);
/** Somewhere in the rebuild, which takes longer. */
const MOST_MS = 500;
const LONG = 180_000 + 2 * AWAY_MS;
const number = seededNumbers();

const specs = (): void => {
  let cluster: CounterCluster;
  beforeEach(async () => {
    cluster = await startCounterCluster();
    await cluster.start('a');
    await cluster.start('b');
    await eventually(async () => (await cluster.shares()).join() === '4,4', 'two projectors');
    await cluster.fill(STREAMS);
  });
  afterEach(() => cluster.destroy(), 60_000);

  const rebuild = () => cluster.watcher.rebuild('counters');

  it.each(['eventstore', 'mongo'] as const)(
    `%s is killed and comes back: the rebuild ends, and no event is lost or doubled (SEED=${seed})`,
    async (name) => {
      const server = cluster.servers[name];
      const stopWriting = startPacedWriter(cluster.log);
      await rebuild().start({ swap: true });
      await lasting(number(MOST_MS));
      expect((await rebuild().status())?.state).not.toBe('swapped');
      await server.kill();
      await lasting(AWAY_MS);
      await server.start();
      await stopWriting();
      await eventually(async () => (await rebuild().status())?.state === 'swapped', 'the rebuild');
      expect((await rebuild().status())?.verification).toMatchObject({ equal: true, differences: 0 });
      await eventually(
        async () => cluster.watcher.waitFor('counters', (await cluster.log.head()) ?? '', 20_000),
        'the view at the head',
      );
      expect(await cluster.watcher.deadLetters()).toEqual([]);
      expect(await cluster.readStore.live('counters')).toBe(2);
      const fold = await foldLog(cluster.log);
      expect(await viewText(cluster.readStore, 2)).toBe(fold);
      await eventually(async () => (await viewText(cluster.readStore, 1)) === fold, 'the build before');
    },
    LONG,
  );
};

const missing = isInstalled() ? undefined : 'test/servers/mongodb.sh install was not run';
describe('while projectors rebuild and a server is away', () =>
  missing === undefined ? specs() : it.todo(`skipped: ${missing}`));
