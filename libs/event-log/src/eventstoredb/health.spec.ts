import { ownTime } from '../../../../test/fixtures/own-time';
import { until } from '../../../../test/fixtures/until';
import { startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { waitingFor, withServer } from './with-server.contract';

describe('health on EventStoreDB', () => {
  it(
    'says that nothing can be written until something is',
    withServer(async (log, server) => {
      await log.append('a-1', newEvents(1), 'noStream');
      server.faults.prepareTimeouts = 1_000;
      await expect(waitingFor(500, () => log.append('a-1', newEvents(1), 0))).rejects.toMatchObject({
        name: 'Unavailable',
        outcome: 'unknown',
      });
      expect(await log.health()).toEqual({
        writable: false,
        readable: true,
        reason: 'the server did not answer in time',
      });

      server.faults.prepareTimeouts = 0;
      await log.append('a-1', newEvents(1), 0);
      expect(await log.health()).toEqual({ writable: true, readable: true });
    }),
  );

  it(
    'says within two seconds that a server is slow, not that it is away',
    withServer(async (log, server) => {
      server.faults.isPaused = true;
      const took = ownTime();

      expect(await log.health()).toEqual({
        writable: false,
        readable: false,
        slow: true,
        reason: 'the server is slow: it has not answered for 1.5 s',
      });
      expect(took()).toBeLessThan(2_000);
      server.faults.isPaused = false;
      expect(await log.health()).toEqual({ writable: true, readable: true });
    }),
  );

  it('is told of a server that is not there yet, and followers wait for it', async () => {
    const server = await startEventStoreDouble();
    await server.stop();
    const log = await openEventStoreLog({ url: server.url.replace(/^esdb/, 'kurrentdb') });
    expect(await log.health()).toEqual({ writable: false, readable: false, reason: 'the server cannot be reached' });
    await expect(log.append('a-1', newEvents(1), 'noStream')).rejects.toMatchObject({
      name: 'Unavailable',
      reason: 'the server cannot be reached',
    });
    const received: string[] = [];
    const subscription = log.subscribe({
      name: 'early',
      after: null,
      onEvents: async (events) => void received.push(...events.map(({ id }) => id)),
    });

    const late = await startEventStoreDouble({ port: server.port });
    await until(() => subscription.caughtUp);
    const events = newEvents(2);
    await log.append('a-1', events, 'noStream');
    await until(() => received.length === 2);

    expect(received).toEqual(events.map(({ id }) => id));
    await log.close();
    await late.stop();
  });
});
