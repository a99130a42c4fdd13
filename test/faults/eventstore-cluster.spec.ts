import { type EventLog, openEventStoreLog } from '@app/event-log';
import { newEvents } from '../../libs/event-log/src/contract/log-under-test.contract';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { type EventStoreCluster, type Silence, startEventStoreCluster } from '../servers/eventstoredb/cluster';
import { History } from './eventstore/history';

const WRITERS = 16;
const times = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
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
    const took = ownTime();
    await until(() => history.acknowledged.length > before + WRITERS, 'writes that go on', { patience: 30_000 });
    return took();
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
    });
  });
});

describe('a cluster of EventStoreDB whose leader pauses, and leads on', () => {
  it('is asked who leads, and nothing is broken off or sent again', async () => {
    const cluster = await startEventStoreCluster();
    const log = await openEventStoreLog({ url: cluster.url });
    await Promise.all(times(WRITERS).map((stream) => log.append(`a-${stream}`, newEvents(1), 'noStream')));
    const [asked, sent] = [cluster.received('Gossip/Read'), cluster.received('Streams/BatchAppend')];
    cluster.fallSilent(cluster.leader(), 'paused');
    const appends = Promise.all(
      times(WRITERS).map((stream) => log.append(`a-${stream}`, newEvents(1), stream % 2 === 0 ? 0 : 'any')),
    );
    await until(() => cluster.received('Gossip/Read') >= asked + 4, 'two rounds of asking those that live');
    cluster.comeBack(cluster.leader());

    expect((await appends).map(({ revision }) => revision)).toEqual(times(WRITERS).map(() => 1));
    expect(cluster.received('Streams/BatchAppend')).toBe(sent + WRITERS);
    expect(cluster.leader()).toBe(0);
    await log.close();
    await cluster.stop();
  });
});

describe('a cluster of EventStoreDB whose leader has too much to do', () => {
  it('is waited for, over the connection that stands', async () => {
    const cluster = await startEventStoreCluster();
    const log = await openEventStoreLog({ url: cluster.url });
    await log.append('a-1', newEvents(1), 'noStream');
    const asked = cluster.received('Gossip/Read');
    cluster.refuse(cluster.leader(), 'Server Is Busy');
    const [read, append] = [log.readStream('a-1'), log.append('a-2', newEvents(1), 'any')];
    expect(await log.health()).toMatchObject({ readable: false, reason: 'the server has too much to do' });
    cluster.refuse(cluster.leader(), null);

    expect([(await read).length, (await append).revision]).toEqual([1, 0]);
    expect(cluster.received('Gossip/Read')).toBe(asked);
    await log.close();
    await cluster.stop();
  });
});

describe('the product on a cluster of EventStoreDB whose leader falls silent', () => {
  const CALLERS = 8;
  let cluster: EventStoreCluster;
  let platform: TestPlatform;

  beforeEach(async () => {
    cluster = await startEventStoreCluster();
    platform = await startTestPlatform({ environment: { EVENTSTORE_URL: cluster.url } });
  });
  afterEach(async () => {
    await platform.stop();
    await cluster.stop();
  });

  it.each<Silence>(['paused', 'cut off'])(
    'answers every request that writes, and the next ones within eight seconds: %s',
    async (silence) => {
      const statuses: number[] = [];
      const names: string[] = [];
      const over = new AbortController();
      const callers = Array.from({ length: CALLERS }, async (_, caller) => {
        for (let round = 0; !over.signal.aborted; round += 1) {
          const name = `Space ${caller} ${round}`;
          const { status } = await platform.call('/api/v1/core/spaces', { method: 'POST', body: { name } });
          statuses.push(status);
          if (status === 201) names.push(name);
        }
      });
      const answered = async (more: number, patience?: number): Promise<void> => {
        const before = statuses.length;
        await until(() => statuses.length >= before + more, 'answers', patience === undefined ? {} : { patience });
      };
      await answered(5 * CALLERS);
      const former = cluster.leader();
      cluster.fallSilent(former, silence);
      await answered(2 * CALLERS, MOST_MS);
      expect(cluster.leader()).not.toBe(former);
      cluster.comeBack(former);
      await answered(2 * CALLERS);
      over.abort();
      await Promise.all(callers);

      expect(statuses.filter((status) => status !== 201)).toEqual([]);
      expect(new Set(names).size).toBe(statuses.length);
      await until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
    },
  );
});
