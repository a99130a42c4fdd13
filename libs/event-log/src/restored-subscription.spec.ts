import { until } from '../../../test/fixtures/until';
import { follow, FOLLOW_TIMES } from './catch-up-subscription';
import { newEvents } from './contract/log-under-test.contract';
import type { LogPage } from './event-log';

it('a subscription is handed no page that was read while the log was found to be another, and goes on from its end', async () => {
  const restored = { timeline: 1, end: async () => '0002' };
  const held = Promise.withResolvers<LogPage>();
  const readAll = jest.fn(async (): Promise<LogPage> => ({ events: [], next: '0002', end: true }));
  readAll.mockReturnValueOnce(held.promise);
  const handed: number[] = [];
  const ends: (string | null)[] = [];
  const subscription = follow(
    { readAll, listen: () => () => undefined, restored },
    {
      name: 'test',
      after: null,
      onEvents: async (events) => void handed.push(events.length),
      onRestored: (end) => void ends.push(end),
    },
    FOLLOW_TIMES,
  );
  await until(() => readAll.mock.calls.length === 1);
  restored.timeline = 2;
  const events = newEvents(2).map((event, revision) => ({
    ...event,
    stream: 'a-1',
    revision,
    position: `000${revision}`,
  }));
  held.resolve({ events, next: '0009', end: true });
  await until(() => subscription.caughtUp);
  expect([handed, ends, subscription.position]).toEqual([[], ['0002'], '0002']);
  await subscription.stop();
});
