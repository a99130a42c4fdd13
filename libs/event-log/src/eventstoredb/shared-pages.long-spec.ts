import { openEventStoreLog, type EventLog, type Subscription } from '..';
import { CountingProxy } from '../../../../test/fixtures/counting-proxy';
import { until } from '../../../../test/fixtures/until';
import { type EventStoreDouble, noLag, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { newEvents } from '../contract/log-under-test.contract';

/** As many as a process of the product runs. */
const FOLLOWERS = 25;

describe('followers of a process on EventStoreDB', () => {
  let server: EventStoreDouble;
  let proxy: CountingProxy;
  let log: EventLog;
  let other: EventLog;
  beforeEach(async () => {
    server = await startEventStoreDouble({ lag: noLag });
    proxy = await CountingProxy.start({ origin: `http://127.0.0.1:${server.port}` });
    [log, other] = await Promise.all([openEventStoreLog({ url: proxy.url }), openEventStoreLog({ url: server.url })]);
  });
  afterEach(async () => {
    await Promise.all([log.close(), other.close()]);
    await proxy.stop();
    await server.stop();
  });

  const received: { stream: string; revision: number }[][] = [];
  /** Followers of all kinds, at the end of the log and at rest. */
  const atRest = async (): Promise<readonly Subscription[]> => {
    received.length = 0;
    const subscriptions = Array.from({ length: FOLLOWERS }, (_, index) => {
      const own: (typeof received)[number] = (received[index] = []);
      const filter =
        index % 3 === 0 ? {} : { filter: index % 3 === 1 ? { types: ['Noted'] } : { streamPrefixes: ['a-'] } };
      return log.subscribe({
        name: `${index}`,
        after: null,
        pageSize: index % 2 === 0 ? 500 : 50,
        ...filter,
        onEvents: async (events) => void own.push(...events.map(({ stream, revision }) => ({ stream, revision }))),
      });
    });
    await until(() => subscriptions.every(({ caughtUp }) => caughtUp));
    for (let before = -1; before !== proxy.calls.reads;) {
      before = proxy.calls.reads;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return subscriptions;
  };
  const all = (count: number) => until(() => received.every((own) => own.length === count));

  it('are reached by one page for all, whoever appends, and by nothing else', async () => {
    await other.append('a-0', newEvents(3), 'noStream');
    await atRest();
    let revision = -1;
    for (const writer of [other, log, other]) {
      const before = { ...proxy.calls };
      await writer.append('a-1', newEvents(2), revision < 0 ? 'noStream' : revision);
      revision += 2;
      await all(3 + revision + 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(proxy.since(before)).toMatchObject({ reads: 1, pages: 1, subscriptions: 0 });
    }
  });

  it('learn what was removed by that page, and are never shown it', async () => {
    await other.append('a-1', newEvents(4), 'noStream');
    const subscriptions = await atRest();
    const before = { ...proxy.calls };
    await other.truncate('a-1', 3);
    await other.append('a-2', newEvents(1), 'noStream');
    await all(5);
    expect(proxy.since(before)).toMatchObject({ reads: 1, pages: 1 });
    const { events } = await log.readAll();
    expect(events.map(({ stream, revision }) => `${stream}@${revision}`)).toEqual(['a-1@3', 'a-2@0']);
    await Promise.all(subscriptions.map((subscription) => subscription.stop()));
  });

  it('are never shown what was removed while they were busy, though it was at hand', async () => {
    await atRest();
    let release = (): void => undefined;
    const shown: string[] = [];
    const busy = log.subscribe({
      name: 'busy',
      after: null,
      onEvents: async (events) => {
        shown.push(...events.map(({ stream, revision }) => `${stream}@${revision}`));
        if (shown.length === 1) await new Promise<void>((resolve) => (release = resolve));
      },
    });
    await until(() => busy.caughtUp);
    await other.append('a-1', newEvents(1), 'noStream');
    await until(() => shown.length === 1);
    await other.append('a-2', newEvents(2), 'noStream');
    await all(3);
    await other.truncate('a-2', 1);
    release();
    await until(() => shown.length > 1);
    await other.append('a-3', newEvents(1), 'noStream');
    await until(() => shown.includes('a-3@0'));
    expect(shown).toEqual(['a-1@0', 'a-2@1', 'a-3@0']);
  });

  it('see at once what somebody waits for, also where the server tells of nothing', async () => {
    await atRest();
    server.faults.stallSubscriptions = true;
    const { position } = await log.append('a-1', newEvents(1), 'noStream');
    const before = { ...proxy.calls };
    log.deliverNow?.(position);
    await all(1);
    expect(proxy.since(before).reads).toBeLessThanOrEqual(1);
  });

  it('are reached by what was asked for a request, too', async () => {
    await atRest();
    server.faults.stallSubscriptions = true;
    await other.append('a-1', newEvents(1), 'noStream');
    const before = { ...proxy.calls };
    await log.head();
    await all(1);
    expect(proxy.since(before).reads).toBe(1);
  });

  it('begin at the start of a long log with pages that they share, and learn of removals made meanwhile', async () => {
    for (let revision = -1; revision < 2_999; revision += 500)
      await other.append('a-1', newEvents(500), revision < 0 ? 'noStream' : revision);
    const before = { ...proxy.calls };
    await atRest();
    await all(3_000);
    // Six pages of 500 for one half, sixty of 50 for the other; a question beside each.
    expect(proxy.since(before).reads).toBeLessThan(300);
    const { next } = await log.readAll({ limit: 100 });
    await other.truncate('a-1', 2_990);
    expect((await log.readAll({ after: next, limit: 1_000 })).events).toEqual([]);
  });
});
