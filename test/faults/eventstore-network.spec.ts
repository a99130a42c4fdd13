import { type EventLog, openEventStoreLog } from '@app/event-log';
import { until } from '../fixtures/until';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import { type Direction, TcpProxy } from '../fixtures/tcp-proxy';
import { GONE_MS, History, lasting, TimeLimit } from './eventstore/history';

const WRITERS = 16;

/** Faults 20, 21 and 22: the server is there, and what it says does not arrive, or it is another that must be asked. */
describe('between the log and EventStoreDB', () => {
  let server: EventStoreDouble;
  let proxy: TcpProxy;
  let log: EventLog;
  let history: History;

  beforeEach(async () => {
    server = await startEventStoreDouble();
    proxy = await TcpProxy.start(server.port);
    log = await openEventStoreLog({ url: `esdb://127.0.0.1:${proxy.port}?tls=false` });
    history = new History(log);
    history.write(WRITERS);
    await written(20);
  });
  afterEach(async () => {
    await history.abandon();
    await log.close();
    await proxy.close();
    await server.stop();
  });

  /** Waits until each writer wrote so many more, on the average. */
  const written = async (each: number): Promise<void> => {
    const before = history.acknowledged.length;
    await until(() => history.acknowledged.length >= before + each * WRITERS);
  };

  const checkAll = async (): Promise<void> => {
    await history.end();
    await history.check();
    expect(history.slowestFailure).toBeLessThan(history.most);
  };

  it('acknowledgements are lost: the same events are found again', async () => {
    for (let round = 0; round < 5; round += 1) {
      server.faults.dropAcknowledgements = 10;
      await written(10);
    }
    expect(server.faults.dropAcknowledgements).toBe(0);
    await checkAll();
  });

  it('appends are answered twice: the second answer is passed over', async () => {
    server.faults.answerTwice = 50;
    await written(20);
    expect(server.faults.answerTwice).toBe(0);
    await checkAll();
  });

  it('commits time out, some written and some not', async () => {
    server.faults.commitTimeouts = 20;
    server.faults.prepareTimeouts = 20;
    await written(20);
    await checkAll();
  });

  it.each([
    ['Server Is Not Ready', 'the server is not ready'],
    ['Server Is Busy', 'the server has too much to do'],
  ])('it says "%s" for a while', async (refusal, reason) => {
    server.faults.refusal = refusal;
    await until(() => history.failures.length >= WRITERS);
    const told = await log.health();
    server.faults.refusal = null;
    await written(10);
    expect(history.failures.some(({ outcome }) => outcome === 'none')).toBe(true);
    expect(told).toEqual({ writable: false, readable: false, reason });
    await checkAll();
  });

  it('it ends calls as unavailable for a while', async () => {
    server.faults.isUnavailable = true;
    await until(() => history.failures.length >= WRITERS);
    server.faults.isUnavailable = false;
    await written(10);
    await checkAll();
  });

  it('connections break again and again', async () => {
    for (let round = 0; round < 20; round += 1) {
      proxy.cut();
      await written(3);
    }
    await checkAll();
  });

  it.each<[string, readonly Direction[]]>([
    ['to the server', ['up']],
    ['from the server', ['down']],
    ['either way', ['up', 'down']],
  ])('nothing passes %s for 5 s: it is waited for', async (_name, ways) => {
    const limit = new TimeLimit(GONE_MS);
    proxy.stall(...ways);
    const started = performance.now();
    const told = await log.health();
    const toldIn = performance.now() - started;
    await lasting(5_000 - toldIn);
    proxy.resume();
    await written(10);

    expect(told).toMatchObject({ writable: false, readable: false, slow: true });
    expect(toldIn).toBeLessThan(limit.most);
    expect(history.failures).toEqual([]);
    await checkAll();
  });

  it('nothing passes any more, the connection is half open: a new one is made', async () => {
    proxy.stall('up', 'down');
    await until(() => history.failures.length >= WRITERS);
    // What goes over new connections passes; the old ones stay dead.
    proxy.abandon();
    await written(10);
    await checkAll();
  });

  it.each(['up', 'down'] as const)('one way of the connection ends: %s', async (way) => {
    proxy.halfClose(way);
    await written(10);
    await checkAll();
  });

  it('everything takes 40 ms longer', async () => {
    proxy.latency = 40;
    await written(10);
    expect(history.failures).toEqual([]);
    await checkAll();
  });

  it('listeners are dropped again and again as too slow', async () => {
    for (let round = 0; round < 10; round += 1) {
      server.dropListeners();
      await written(3);
    }
    expect(history.followErrors).toEqual([]);
    await checkAll();
  });

  it('subscriptions fall silent: what is appended is found', async () => {
    await history.end();
    server.faults.stallSubscriptions = true;
    const received: string[] = [];
    const subscription = log.subscribe({
      name: 'stalled',
      after: await log.head(),
      onEvents: async (events) => void received.push(...events.map(({ id }) => id)),
    });
    await until(() => subscription.caughtUp && server.listeners() > 0);
    await log.append(
      'stalled-1',
      [{ id: '0190a0b0-0000-7000-8000-000000000001', type: 'Noted', data: '{}', metadata: '{}' }],
      'noStream',
    );
    await until(() => received.length === 1);
    await subscription.stop();
  });

  it.each([0, 100])('the end of the log is said %d times: caught up is true all the same', async (caughtUps) => {
    server.faults.caughtUps = caughtUps;
    let isCaughtUp = false;
    const subscription = log.subscribe({
      name: 'caught-up',
      after: null,
      onEvents: async () => undefined,
      onCaughtUp: () => void (isCaughtUp = true),
    });
    await history.end();
    await until(() => isCaughtUp && subscription.caughtUp);
    await log.append(
      'caught-up-1',
      [{ id: '0190a0b0-0000-7000-8000-000000000002', type: 'Noted', data: '{}', metadata: '{}' }],
      'noStream',
    );
    const head = await log.head();
    await until(() => subscription.position === head);
    await subscription.stop();
    await history.check();
  });

  it('another server leads: it is asked instead, and nothing is doubled', async () => {
    const follower = await startEventStoreDouble();
    follower.faults.leader = { host: '127.0.0.1', port: server.port };
    const other = await openEventStoreLog({ url: follower.url });
    const led = new History(other);
    led.write(4);
    await until(() => led.acknowledged.length > 100);
    await led.end();
    await led.check();
    await other.close();
    await follower.stop();
    await checkAll();
  });
});
