import { canonicalJson, type Json } from '@app/kernel';
import { eventually } from '../servers/cluster';
import { startPacedWriter } from './mongo/mongo-counters';
import { isInstalled } from './mongo/server-process';
import { type CounterCluster, startCounterCluster } from './processes/counter-cluster';
import { declarations } from './processes/counter-views';
import { foldLog, viewText } from './projecting/counter-stores';

/** A newer version of the product, which declares a view anew, starts beside an older one, and is taken away again. */

const STREAMS = 300;

const specs = (): void => {
  let cluster: CounterCluster;
  beforeEach(async () => (cluster = await startCounterCluster()), 60_000);
  afterEach(() => cluster.destroy(), 60_000);

  const live = async (): Promise<number> => (await cluster.readStore.live('counters')) ?? 0;
  /** The view in the shape that a version declares, folded from the log by other code. */
  const folded = async (version: keyof typeof declarations): Promise<string> => {
    const rows = JSON.parse(await foldLog(cluster.log)) as [string, Record<string, Json>][];
    return canonicalJson(version === '1.0.0' ? rows : rows.map(([key, row]) => [key, { ...row, declared: 2 }]));
  };
  /** What is served is the fold of the log up to now, in the shape that a version declares. */
  const serves = async (version: keyof typeof declarations): Promise<void> => {
    const expected = await folded(version);
    await eventually(
      async () => (await viewText(cluster.readStore, await live())) === expected,
      `the view of ${version}`,
    );
  };

  it('each goes on with what it declares, the newer is served once it has caught up, and nothing is lost either way', async () => {
    const older = [await cluster.start('a'), await cluster.start('b')];
    await cluster.fill(STREAMS);
    await serves('1.0.0');
    const before = await live();

    // The newer ones build theirs beside, from all of the log, and what arrives meanwhile.
    const stopWriting = startPacedWriter(cluster.log);
    const newer = [await cluster.start('n', '1.1.0'), await cluster.start('o', '1.1.0')];
    expect(await cluster.watcher.waitFor('counters', (await cluster.log.head()) ?? '', 20_000)).toBe(true);
    await eventually(async () => (await cluster.shares()).join() === '4,4,4,4', 'slices of both declarations');
    await eventually(async () => (await live()) > before, 'the newer view');
    await stopWriting();
    await serves('1.1.0');
    expect([...older, ...newer].map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual([
      null,
      null,
      null,
      null,
    ]);

    // With the older ones gone nothing changes; with the newer ones gone instead, the older declaration is built again.
    await cluster.kill(older[0] as (typeof older)[number]);
    await cluster.fill(STREAMS);
    await serves('1.1.0');
    for (const child of newer) await cluster.kill(child);
    await cluster.fill(STREAMS);
    await serves('1.0.0');
    expect(await cluster.watcher.deadLetters()).toEqual([]);
    expect(older.at(-1)?.exitCode).toBeNull();
  });
};

describe('a newer version beside an older one', () =>
  isInstalled() ? specs() : it.todo('skipped: test/servers/mongodb.sh install was not run'));
