import type { StoredEvent } from '@app/kernel';
import { until } from '../../../../test/fixtures/until';
import type { EventLog, SubscribeOptions, Subscription } from '../event-log';
import { newEvent, newEvents, type GetLog, withLog } from './log-under-test.contract';

interface Followed {
  readonly subscription: Subscription;
  readonly received: StoredEvent[];
}

const numbers = (events: readonly StoredEvent[]): number[] => events.map(({ revision }) => revision);

export const followingContract = (shared: GetLog): void => {
  const followed = async (
    log: EventLog,
    category: string,
    given: Partial<SubscribeOptions> = {},
  ): Promise<Followed> => {
    const received: StoredEvent[] = [];
    const subscription = log.subscribe({
      name: 'test',
      after: shared().after ?? null,
      filter: { streamPrefixes: [`${category}-`] },
      onEvents: async (events) => void received.push(...events),
      ...given,
    });
    return { subscription, received };
  };

  it(
    'catches up from the start, says so, and goes on with what comes',
    withLog(shared, async (log, category) => {
      await log.append(`${category}-1`, newEvents(7), 'noStream');
      const { subscription, received } = await followed(log, category, { pageSize: 3 });

      await until(() => subscription.caughtUp);
      expect(numbers(received)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      await log.append(`${category}-1`, newEvents(2), 6);
      await until(() => received.length === 9);
      await until(() => subscription.caughtUp);

      expect(subscription.position).toBe(await log.head());
      await subscription.stop();
    }),
  );

  it(
    'begins after a position',
    withLog(shared, async (log, category) => {
      await log.append(`${category}-1`, newEvents(4), 'noStream');
      const after = (await log.readStream(`${category}-1`))[1]?.position ?? null;
      const { subscription, received } = await followed(log, category, { after });

      await until(() => subscription.caughtUp);

      expect(numbers(received)).toEqual([2, 3]);
      await subscription.stop();
    }),
  );

  it(
    'moves on over events that its filter leaves out',
    withLog(shared, async (log, category) => {
      const positions: string[] = [];
      const { subscription, received } = await followed(log, category, {
        filter: { types: ['Wanted'], streamPrefixes: [`${category}-`] },
        onEvents: async (events, upTo) => {
          received.push(...events);
          positions.push(upTo);
        },
      });
      await log.append(
        `${category}-1`,
        [newEvent({ type: 'Other' }), newEvent({ type: 'Wanted' }), newEvent({ type: 'Other' })],
        'noStream',
      );
      const head = await log.head();

      await until(() => subscription.position !== null && subscription.position >= (head ?? ''));

      expect(numbers(received)).toEqual([1]);
      expect(positions).toEqual(positions.toSorted());
      await subscription.stop();
    }),
  );

  it(
    'is handed every event of its types, in order, where it may pass over the others',
    withLog(shared, async (log, category) => {
      const places: string[] = [];
      const { subscription, received } = await followed(log, category, {
        filter: { types: ['Wanted'] },
        onEvents: async (events, upTo) => {
          received.push(...events.filter(({ stream }) => stream === `${category}-1`));
          places.push(upTo);
        },
        onPassed: (upTo) => places.push(upTo) > 0,
      });
      const types = Array.from({ length: 60 }, (_, at) => (at % 7 === 3 || at % 11 === 5 ? 'Wanted' : 'Other'));
      for (const [at, type] of types.entries()) {
        await log.append(`${category}-1`, [newEvent({ type })], at === 0 ? 'noStream' : at - 1);
        // Now and then it comes to rest, and stands behind what it was not handed.
        const head = (await log.head()) ?? '';
        if (at % 5 === 4) await until(() => subscription.caughtUp && (subscription.position ?? '') >= head);
      }
      const head = (await log.head()) ?? '';
      await until(() => (subscription.position ?? '') >= head);
      await subscription.stop();

      expect(numbers(received)).toEqual([...types.keys()].filter((at) => types[at] === 'Wanted'));
      expect(places).toEqual(places.toSorted());
      expect(new Set(places).size).toBe(places.length);
    }),
  );

  it(
    'says that it caught up only after the event before was handled',
    withLog(shared, async (log, category) => {
      await log.append(`${category}-1`, newEvents(1), 'noStream');
      const order: string[] = [];
      let finish = (): void => undefined;
      const { subscription } = await followed(log, category, {
        onEvents: async (events) => {
          if (events.length === 0) return;
          order.push('handling');
          await new Promise<void>((resolve) => (finish = resolve));
          order.push('handled');
        },
        onCaughtUp: () => void order.push('caught up'),
      });

      await until(() => order.includes('handling'));
      expect(subscription.caughtUp).toBe(false);
      finish();
      await until(() => subscription.caughtUp);

      expect(order).toEqual(['handling', 'handled', 'caught up']);
      await subscription.stop();
    }),
  );

  it(
    'delivers again what a handler failed on, skipping nothing',
    withLog(shared, async (log, category) => {
      await log.append(`${category}-1`, newEvents(6), 'noStream');
      const attempts: number[] = [];
      let failuresLeft = 2;
      const { subscription, received } = await followed(log, category, {
        pageSize: 2,
        onEvents: async (events) => {
          if (events.some(({ revision }) => revision === 3) && (failuresLeft -= 1) >= 0) throw new Error('not now');
          received.push(...events);
        },
        onError: (_error, attempt) => void attempts.push(attempt),
      });

      await until(() => subscription.caughtUp);

      expect(numbers(received)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(attempts).toEqual([1, 2]);
      await subscription.stop();
    }),
  );

  it(
    'stops when the page in hand is handled, and hands over nothing more',
    withLog(shared, async (log, category) => {
      await log.append(`${category}-1`, newEvents(4), 'noStream');
      let finish = (): void => undefined;
      const { subscription, received } = await followed(log, category, {
        pageSize: 2,
        onEvents: async (events) => {
          await new Promise<void>((resolve) => (finish = resolve));
          received.push(...events);
        },
      });
      await until(() => finish.length === 1);
      let isStopped = false;
      const stopped = subscription.stop().then(() => (isStopped = true));

      await new Promise((resolve) => setImmediate(resolve));
      expect(isStopped).toBe(false);
      finish();
      await stopped;
      await log.append(`${category}-1`, newEvents(1), 3);

      expect(numbers(received).every((revision) => revision < 2)).toBe(true);
    }),
  );

  it(
    'skips and repeats nothing while many write',
    withLog(shared, async (log, category) => {
      const before = await log.head();
      let inHand = 0;
      const { subscription, received } = await followed(log, category, {
        after: before,
        pageSize: 7,
        onEvents: async (events) => {
          inHand += 1;
          await new Promise((resolve) => setImmediate(resolve));
          received.push(...events);
          if ((inHand -= 1) > 0) throw new Error('two pages at once');
        },
        onError: (error) => {
          throw error;
        },
      });
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        for (let revision = 0; revision < 25; revision += 1)
          await log.append(`${category}-${writer}`, newEvents(1), revision === 0 ? 'noStream' : revision - 1);
      });
      await Promise.all(writers);

      await until(() => received.length >= 200);

      expect(received.map(({ position }) => position)).toEqual(received.map(({ position }) => position).toSorted());
      expect(new Set(received.map(({ id }) => id)).size).toBe(200);
      await subscription.stop();
    }),
  );
};
