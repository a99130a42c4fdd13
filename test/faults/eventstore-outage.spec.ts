import { type EventLog, openEventStoreLog } from '@app/event-log';
import { until } from '../fixtures/until';
import { GONE_MS, History, lasting, SLOW_MS, TimeLimit } from './eventstore/history';
import { ServerProcess } from './eventstore/server-process';

const WRITERS = 16;

/** Faults 19 and 14: the server is killed or stands still while many write and one follows. */
describe('while EventStoreDB is gone', () => {
  let server: ServerProcess;
  let log: EventLog;
  let history: History;

  beforeEach(async () => {
    server = await ServerProcess.start();
    log = await openEventStoreLog({ url: server.url });
    history = new History(log, GONE_MS);
    history.write(WRITERS);
    await until(() => history.acknowledged.length > 20 * WRITERS);
  });
  afterEach(async () => {
    await history.abandon();
    await log.close();
    await server.remove();
  });

  const writtenSince = (count: number) => until(() => history.acknowledged.length > count + 20 * WRITERS);

  it.each([1_000, 60_000])(
    'for %d ms, appends fail in time, health says why, and nothing is lost or doubled',
    async (milliseconds) => {
      await server.kill();
      await lasting(milliseconds);
      const told = await log.health();
      const started = performance.now();
      const [read, head] = await Promise.allSettled([log.readStream('any-1'), log.append('any-1', [], 'any')]);
      const answeredIn = performance.now() - started;
      const before = history.acknowledged.length;
      await server.start();
      await writtenSince(before);
      await history.end();

      expect(told).toEqual({ writable: false, readable: false, reason: 'the server cannot be reached' });
      expect(read).toMatchObject({ status: 'rejected', reason: { name: 'Unavailable' } });
      expect(head.status).toBe('rejected');
      expect(answeredIn).toBeLessThan(history.most);
      expect(history.slowestFailure).toBeLessThan(history.most);
      if (milliseconds > 2_000) expect(history.failures.length).toBeGreaterThan(WRITERS);
      await history.check();
      expect(await log.health()).toEqual({ writable: true, readable: true });
    },
  );

  it('stands still for 31 s and goes on: it is slow, then it does not answer, then it is away, and nothing is lost or doubled', async () => {
    const limits = { told: new TimeLimit(GONE_MS), failed: new TimeLimit(SLOW_MS) };
    const started = performance.now();
    server.pause();
    const first = await log.health();
    const toldIn = performance.now() - started;
    const reasons = new Set<string | undefined>();
    const away = 'the server cannot be reached';
    // It is so after some 30 s; a process that stood still itself at that moment finds out later.
    while (performance.now() - started < 31_000 || (!reasons.has(away) && performance.now() - started < 60_000)) {
      reasons.add((await log.health()).reason);
      await lasting(100);
    }
    const before = history.acknowledged.length;
    server.goOn();
    await writtenSince(before);
    await history.end();

    const slow = 'the server is slow: it has not answered for 1.5 s';
    expect(first).toEqual({ writable: false, readable: false, slow: true, reason: slow });
    expect(toldIn).toBeLessThan(limits.told.most);
    // At the moment in which the keep-alive gives up, the connection breaks.
    reasons.delete('the connection to the server broke');
    expect([...reasons]).toEqual([slow, 'the server did not answer in time', away]);
    expect(history.failures[0]).toMatchObject({ outcome: 'unknown' });
    expect(history.slowestFailure).toBeGreaterThan(9_000);
    expect(history.slowestFailure).toBeLessThan(limits.failed.most);
    await history.check();
    expect(await log.health()).toEqual({ writable: true, readable: true });
  });

  it('is killed again and again, nothing is lost or doubled', async () => {
    for (let round = 0; round < 6; round += 1) {
      const before = history.acknowledged.length;
      await server.kill();
      await server.start();
      await writtenSince(before);
    }
    await history.end();

    await history.check();
  });
});
