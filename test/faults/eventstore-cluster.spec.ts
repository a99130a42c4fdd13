import { type EventLog, openEventStoreLog } from '@app/event-log';
import { until } from '../fixtures/until';
import { type EventStoreCluster, type Silence, startEventStoreCluster } from '../servers/eventstoredb/cluster';
import { History } from './eventstore/history';

const WRITERS = 16;
/** An election takes 5.2 s; what is slower than this would be the keep-alive, which gives up after 20 s. */
const MOST_MS = 8_000;

/** A leader of three nodes that says nothing any more, though its connections stay open. */
describe('a cluster of EventStoreDB whose leader falls silent', () => {
  let cluster: EventStoreCluster;
  let log: EventLog;
  let history: History;

  const begin = async (url: (cluster: EventStoreCluster) => string): Promise<void> => {
    cluster = await startEventStoreCluster();
    log = await openEventStoreLog({ url: url(cluster) });
    history = new History(log);
    history.write(WRITERS);
    await written(20);
  };
  afterEach(async () => {
    await history.abandon();
    await log.close();
    await cluster.stop();
  });

  const written = async (each: number): Promise<void> => {
    const before = history.acknowledged.length;
    await until(() => history.acknowledged.length >= before + each * WRITERS);
  };

  /** Milliseconds until something is written again. */
  const standstill = async (): Promise<number> => {
    const before = history.acknowledged.length;
    const started = performance.now();
    await until(() => history.acknowledged.length > before + WRITERS, 'writes that go on', { patience: 30_000 });
    return performance.now() - started;
  };

  describe.each<Silence>(['paused', 'cut off'])('%s', (silence) => {
    it.each<[string, (cluster: EventStoreCluster) => string]>([
      ['all nodes are named', ({ url }) => url],
      ['the leader alone is named', ({ urlOf, leader }) => urlOf(leader())],
      ['a follower alone is named', ({ urlOf, leader }) => urlOf((leader() + 1) % 3)],
    ])('is left for the new one, and no append fails: %s', async (_name, url) => {
      await begin(url);
      const former = cluster.leader();
      cluster.fallSilent(former, silence);
      expect(await standstill()).toBeLessThan(MOST_MS);
      expect(cluster.leader()).not.toBe(former);
      await written(10);
      cluster.comeBack(former);
      await written(10);
      await history.end();

      expect(history.failures).toEqual([]);
      await history.check();
      expect(await log.health()).toEqual({ writable: true, readable: true });
    }, 60_000);
  });
});
