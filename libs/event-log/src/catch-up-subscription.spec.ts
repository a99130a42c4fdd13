import type { StoredEvent } from '@app/kernel';
import { until } from '../../../test/fixtures/until';
import { type AppendedRound, follow, type FollowTimes, type LogFeed } from './catch-up-subscription';
import { newEvents } from './contract/log-under-test.contract';
import type { LogPage, ReadAllOptions } from './event-log';

const times: FollowTimes = { firstRetry: 1, longestRetry: 8, silence: 10_000, read: 10_000 };

/** A log in memory whose listeners and reads fail when told to. */
class FakeFeed implements LogFeed {
  readonly listeners = new Set<{ onAppended: (round?: AppendedRound) => void; onLost: (error: unknown) => void }>();
  /** `read` and `listen`, in the order in which they happened. */
  readonly calls: string[] = [];
  readFails = 0;
  /** How the next read answers; undefined: at once. */
  nextRead: Promise<LogPage> | undefined;
  private readonly events: StoredEvent[] = [];

  add(count: number): void {
    for (const event of newEvents(count))
      this.events.push({
        ...event,
        stream: 'a-1',
        revision: this.events.length,
        position: String(this.events.length + 1).padStart(4, '0'),
      });
  }

  wake(round?: AppendedRound): void {
    for (const { onAppended } of this.listeners) onAppended(round);
  }

  lose(): void {
    for (const { onLost } of this.listeners) onLost(new Error('the listener was too slow'));
  }

  async readAll({ after = null, limit = 10 }: ReadAllOptions): Promise<LogPage> {
    this.calls.push('read');
    if ((this.readFails -= 1) >= 0) throw new Error('no connection');
    const held = this.nextRead;
    this.nextRead = undefined;
    if (held !== undefined) return held;
    const rest = this.events.filter(({ position }) => after === null || position > after);
    const events = rest.slice(0, limit);
    return { events, next: events.at(-1)?.position ?? after, end: events.length === rest.length };
  }

  listen(onAppended: (round?: AppendedRound) => void, onLost: (error: unknown) => void): () => void {
    this.calls.push('listen');
    const listener = { onAppended, onLost };
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

const following = (feed: FakeFeed, given: Partial<FollowTimes> = {}, pageSize = 10) => {
  const received: number[] = [];
  const errors: [string, number][] = [];
  const subscription = follow(
    feed,
    {
      name: 'test',
      after: null,
      pageSize,
      onEvents: async (events) => void received.push(...events.map(({ revision }) => revision)),
      onError: (error, attempt) => void errors.push([(error as Error).message, attempt]),
    },
    { ...times, ...given },
  );
  return { subscription, received, errors };
};

describe('a catch-up subscription', () => {
  it('reads pages while it is behind, and listens only at the head', async () => {
    const feed = new FakeFeed();
    feed.add(25);
    const { subscription, received } = following(feed);

    await until(() => subscription.caughtUp);

    expect(received).toHaveLength(25);
    expect(feed.calls).toEqual(['read', 'read', 'read', 'listen', 'read']);
    await subscription.stop();
    expect(feed.listeners.size).toBe(0);
  });

  it('finds what was appended between the last page and its listening', async () => {
    const feed = new FakeFeed();
    const listen = feed.listen.bind(feed);
    feed.listen = (...given) => {
      feed.add(1);
      feed.listen = listen;
      return listen(...given);
    };
    const { subscription, received } = following(feed);

    await until(() => received.length === 1);
    await subscription.stop();
  });

  it('reads on when it is woken, without a listener while it is far behind', async () => {
    const feed = new FakeFeed();
    const { subscription, received } = following(feed, {}, 5);
    await until(() => subscription.caughtUp);

    feed.add(12);
    feed.wake();
    await until(() => received.length === 12 && subscription.caughtUp);

    expect(feed.calls.filter((call) => call === 'listen')).toHaveLength(2);
    await subscription.stop();
  });

  it('finds events although nothing woke it, and listens anew', async () => {
    const feed = new FakeFeed();
    const { subscription, received } = following(feed, { silence: 5 });
    await until(() => subscription.caughtUp);

    feed.add(3);
    await until(() => received.length === 3);

    expect(feed.calls.filter((call) => call === 'listen').length).toBeGreaterThan(1);
    await subscription.stop();
  });

  it('listens again when its listener is lost', async () => {
    const feed = new FakeFeed();
    const { subscription, received, errors } = following(feed);
    await until(() => subscription.caughtUp);

    feed.lose();
    await until(() => errors.length === 1 && subscription.caughtUp);
    feed.add(1);
    feed.wake();
    await until(() => received.length === 1);

    expect(errors).toEqual([['the listener was too slow', 1]]);
    await subscription.stop();
  });

  it('tries again after failed reads, with longer and longer pauses', async () => {
    const feed = new FakeFeed();
    feed.add(2);
    feed.readFails = 5;
    const started = performance.now();
    const { subscription, received, errors } = following(feed, { firstRetry: 4, longestRetry: 16 });

    await until(() => subscription.caughtUp);

    expect(errors.map(([, attempt]) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(performance.now() - started).toBeGreaterThan((4 + 8 + 16 + 16 + 16) / 2);
    expect(received).toEqual([0, 1]);
    await subscription.stop();
  });

  it('gives up a read that never answers', async () => {
    const feed = new FakeFeed();
    feed.add(1);
    feed.nextRead = new Promise(() => undefined);
    const { subscription, received, errors } = following(feed, { read: 5 });

    await until(() => received.length === 1);

    expect(errors).toEqual([['no answer from the log for 5 ms', 1]]);
    await subscription.stop();
  });

  it('stops during a pause without waiting for its end', async () => {
    const feed = new FakeFeed();
    feed.readFails = 1;
    const { subscription, errors } = following(feed, { firstRetry: 60_000, longestRetry: 60_000 });
    await until(() => errors.length === 1);

    await subscription.stop();

    expect(feed.calls).toEqual(['read']);
  });
});

describe('a subscription at the end of a log that says what was appended', () => {
  /** One that asks for another type than the feed has, and stands behind its third event. */
  const waiting = async (onPassed?: (upTo: string) => boolean, types: readonly string[] = ['Wanted']) => {
    const feed = new FakeFeed();
    feed.add(3);
    const handled: string[] = [];
    const subscription = follow(
      feed,
      {
        name: 'test',
        after: null,
        filter: { types },
        onEvents: async (_events, upTo) => void handled.push(upTo),
        ...(onPassed && { onPassed }),
      },
      times,
    );
    await until(() => subscription.caughtUp);
    handled.length = 0;
    feed.calls.length = 0;
    feed.add(2);
    return { feed, handled, subscription };
  };
  const round = (after: string, upTo: string, ...types: string[]): AppendedRound => ({
    after,
    upTo,
    types: new Set(types),
  });

  it('goes on behind other types at once, and reads nothing', async () => {
    const passed: string[] = [];
    const { feed, handled, subscription } = await waiting((upTo) => passed.push(upTo) > 0);

    feed.wake(round('0003', '0004', 'Noted'));
    feed.wake(round('0004', '0005', 'Noted', 'Other'));
    // What it knows already.
    feed.wake(round('0003', '0005', 'Wanted'));

    expect({ position: subscription.position, passed, handled }).toEqual({
      position: '0005',
      passed: ['0004', '0005'],
      handled: [],
    });
    await subscription.stop();
    expect(feed.calls).toEqual([]);
  });

  it.each<[string, AppendedRound | undefined, (() => boolean) | undefined]>([
    ['its own type came', round('0003', '0005', 'Noted', 'Wanted'), () => true],
    ['the subscriber cannot go on now', round('0003', '0005', 'Noted'), () => false],
    ['it does not stand where the round begins', round('0004', '0005', 'Noted'), () => true],
    ['nobody says what came', undefined, () => true],
    ['the subscriber wants to be handed all pages', round('0003', '0005', 'Noted'), undefined],
  ])('reads and hands over a page where %s', async (_, given, onPassed) => {
    const { feed, handled, subscription } = await waiting(onPassed);

    feed.wake(given);
    await until(() => subscription.position === '0005');

    expect(handled).toEqual(['0005']);
    await subscription.stop();
  });

  it('passes over nothing while it reads, and reads on then', async () => {
    const read = Promise.withResolvers<LogPage>();
    const passed: string[] = [];
    const { feed, subscription } = await waiting((upTo) => passed.push(upTo) > 0);
    feed.nextRead = read.promise;
    feed.wake();
    await until(() => feed.calls.includes('read'));

    feed.wake(round('0003', '0005', 'Noted'));
    expect(subscription.position).toBe('0003');
    read.resolve({ events: [], next: '0003', end: true });
    await until(() => subscription.position === '0005');

    expect(passed).toEqual([]);
    await subscription.stop();
  });

  it('passes over nothing while a page is in hand, or after it was stopped', async () => {
    const handling = Promise.withResolvers<void>();
    const passed: string[] = [];
    const feed = new FakeFeed();
    feed.add(1);
    let pages = 0;
    const subscription = follow(
      feed,
      {
        name: 'test',
        after: null,
        filter: { types: ['Wanted'] },
        onEvents: async () => {
          pages += 1;
          if (pages === 2) await handling.promise;
        },
        onPassed: (upTo) => passed.push(upTo) > 0,
      },
      times,
    );
    await until(() => subscription.caughtUp);
    feed.add(1);
    feed.wake();
    await until(() => pages === 2);
    feed.add(1);
    feed.wake(round('0002', '0003', 'Noted'));
    expect(subscription.position).toBe('0001');
    handling.resolve();
    await until(() => subscription.position === '0003' && subscription.caughtUp);
    expect(pages).toBe(3);

    const stopped = subscription.stop();
    feed.wake(round('0003', '0004', 'Noted'));
    await stopped;
    expect(passed).toEqual([]);
  });
});
