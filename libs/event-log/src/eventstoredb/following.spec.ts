import { openEventStoreLog, type Subscription } from '..';
import { ownTime } from '../../../../test/fixtures/own-time';
import { until } from '../../../../test/fixtures/until';
import { newEvents } from '../contract/log-under-test.contract';
import { withServer } from './with-server.contract';

describe('followers on EventStoreDB', () => {
  const followed = (log: Awaited<ReturnType<typeof openEventStoreLog>>, count: number) => {
    const received = Array.from({ length: count }, (): string[] => []);
    const subscriptions = received.map((ids, index): Subscription =>
      log.subscribe({
        name: `follower ${index}`,
        after: null,
        onEvents: async (events) => void ids.push(...events.map(({ id }) => id)),
      }),
    );
    return { received, subscriptions };
  };

  it(
    'share one subscription of the server, which ends with the last of them',
    withServer(async (log, server) => {
      const { received, subscriptions } = followed(log, 12);
      await until(() => subscriptions.every(({ caughtUp }) => caughtUp));
      expect(server.listeners()).toBe(1);
      for (let revision = -1; revision < 30; revision += 1)
        await log.append('a-1', newEvents(2), revision < 0 ? 'noStream' : 2 * revision + 1);
      await until(() => received.every((ids) => ids.length === 62));

      expect(new Set(received.map((ids) => ids.join())).size).toBe(1);
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await until(() => server.listeners() === 0);
    }),
  );

  it(
    'are woken by what another process appends',
    withServer(async (log, server) => {
      const other = await openEventStoreLog({ url: server.url });
      const { received, subscriptions } = followed(log, 3);
      await until(() => subscriptions.every(({ caughtUp }) => caughtUp));
      const events = newEvents(5);
      await other.append('a-1', events, 'noStream');
      await until(() => received.every((ids) => ids.length === 5));

      expect(received[2]).toEqual(events.map(({ id }) => id));
      await other.close();
    }),
  );

  it(
    'miss nothing that is appended while the server drops their subscription',
    withServer(async (log, server) => {
      const { received, subscriptions } = followed(log, 3);
      await until(() => subscriptions.every(({ caughtUp }) => caughtUp));
      const ids: string[] = [];
      for (let revision = -1; revision < 50; revision += 1) {
        if (revision % 5 === 0) server.dropListeners();
        const events = newEvents(1);
        await log.append('a-1', events, revision < 0 ? 'noStream' : revision);
        ids.push(...events.map(({ id }) => id));
      }
      await until(() => received.every((each) => each.length === ids.length));

      expect(received).toEqual([ids, ids, ids]);
    }),
  );

  it(
    'hold up nobody who closes the log while the server is silent',
    withServer(async (log, server) => {
      const { subscriptions } = followed(log, 2);
      await until(() => subscriptions.every(({ caughtUp }) => caughtUp));
      server.faults.isSilent = true;
      const asked = server.received('Streams/Read');
      const late = log.subscribe({ name: 'late', after: null, onEvents: async () => undefined });
      await until(() => server.received('Streams/Read') > asked);
      const took = ownTime();
      await log.close();

      expect(took()).toBeLessThan(8_000);
      expect(late.caughtUp).toBe(false);
    }),
  );
});
