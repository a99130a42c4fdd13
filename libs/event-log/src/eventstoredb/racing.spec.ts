import type { ExpectedRevision } from '@app/kernel';
import { LaggingLogs } from '../../../../test/fixtures/lagging-logs';
import { until } from '../../../../test/fixtures/until';
import { type EventStoreDouble, noLag } from '../../../../test/servers/eventstoredb/double';
import type { EventLog } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { waitingFor, withClient } from './with-server.contract';

/** What became of a promise so far. */
const watch = (work: Promise<unknown>) => {
  const seen = { outcome: undefined as unknown };
  work.then(
    (value) => (seen.outcome = value),
    (error: unknown) => (seen.outcome = error),
  );
  return seen;
};

describe('who loses a race on EventStoreDB', () => {
  let both: LaggingLogs;
  let server: EventStoreDouble;
  let logs: readonly [EventLog, EventLog];
  /** How often the server was called. */
  let calls: number;

  beforeEach(async () => {
    both = await LaggingLogs.open();
    both.lag = noLag;
    server = both.server;
    logs = both.logs as [EventLog, EventLog];
    calls = 0;
    Object.defineProperty(server.faults, 'isSilent', { get: () => (calls += 1) < 0 });
  });
  afterEach(() => both.close());

  /** Waits until the server was called so many times more: an append that was rejected has read since. */
  const called = async (times: number): Promise<void> => {
    const before = calls;
    await until(() => calls >= before + times, 'calls of the server');
  };

  /** Two appends at one expectation, by two processes: the second is rejected by what nobody sees before `both.show()`. */
  const race = async (stream: string, expected: ExpectedRevision, counts: readonly [number, number] = [1, 1]) => {
    both.hide();
    const first = watch(logs[0].append(stream, newEvents(counts[0]), expected));
    await both.hidden();
    const second = watch(logs[1].append(stream, newEvents(counts[1]), expected));
    await called(4);
    return { first, second };
  };
  const shown = async ({ first, second }: Awaited<ReturnType<typeof race>>) => {
    both.show();
    await until(() => first.outcome !== undefined && second.outcome !== undefined, 'both answers');
    return [first.outcome, second.outcome];
  };

  it.each<[string, ExpectedRevision, number]>([
    ['no stream', 'noStream', 0],
    ['an exact revision', 1, 2],
  ])('at %s waits until it can be read, and is told its revision', async (_name, expected, revision) => {
    if (expected === 1) await logs[0].append('a-1', newEvents(2), 'noStream');
    const racing = await race('a-1', expected);
    expect([racing.first.outcome, racing.second.outcome]).toEqual([undefined, undefined]);

    const [won, lost] = await shown(racing);

    expect(won).toMatchObject({ revision });
    expect(lost).toMatchObject({ name: 'WrongExpectedRevision', expected, actual: revision });
    expect(await logs[1].readStream('a-1')).toHaveLength(revision + 1);
  });

  it('with fewer events than won still sees all of them', async () => {
    const [, lost] = await shown(await race('a-1', 'noStream', [5, 2]));

    expect(lost).toMatchObject({ name: 'WrongExpectedRevision', actual: 4 });
    expect(await logs[1].readStream('a-1')).toHaveLength(5);
  });

  it('with a revision ahead of the end is told where it is, once that can be read', async () => {
    both.hide();
    const first = watch(logs[0].append('a-1', newEvents(2), 'noStream'));
    await both.hidden();
    const second = watch(logs[1].append('a-1', newEvents(1), 7));
    await called(4);
    expect(second.outcome).toBeUndefined();

    expect((await shown({ first, second }))[1]).toMatchObject({
      name: 'WrongExpectedRevision',
      expected: 7,
      actual: 1,
    });
  });

  it.each<ExpectedRevision>(['noStream', 1])(
    'is told that it is not known when what won is not shown in time (%s)',
    async (expected) => {
      if (expected === 1) await logs[0].append('a-1', newEvents(2), 'noStream');
      const { second } = await waitingFor(1_000, () => race('a-1', expected));
      await until(() => second.outcome !== undefined, 'the answer');

      expect(second.outcome).toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
      expect(await logs[1].readStream('a-1')).toHaveLength(expected === 1 ? 2 : 0);
    },
  );

  it('though all events of the stream were removed before: it goes on at the next revision once', async () => {
    await logs[0].append('a-1', newEvents(3), 'noStream');
    await logs[0].delete('a-1', 'any');
    both.lag = () => 20;
    const outcomes = await Promise.allSettled(logs.map((log) => log.append('a-1', newEvents(1), 'noStream')));

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'WrongExpectedRevision', actual: 3 },
    });
    expect((await logs[0].readStream('a-1')).map(({ revision }) => revision)).toEqual([3]);
  });

  it.each<[string, (url: string) => Promise<unknown>]>([
    [
      'truncated all of it',
      (url) => withClient(url, (client) => client.setStreamMetadata('a-1', { truncateBefore: 3 })),
    ],
    ['deleted it', (url) => withClient(url, (client) => client.deleteStream('a-1'))],
  ])('though somebody else %s before: it goes on at the next revision once', async (_name, remove) => {
    await logs[0].append('a-1', newEvents(3), 'noStream');
    await remove(server.url);
    both.lag = () => 20;
    const outcomes = await Promise.allSettled(logs.map((log) => log.append('a-1', newEvents(1), 'noStream')));

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { name: 'WrongExpectedRevision', actual: 3 },
    });
    expect((await logs[0].readStream('a-1')).map(({ revision }) => revision)).toEqual([3]);
  });

  it('against itself has won: a repeat of what is not shown is answered as the first time', async () => {
    const events = newEvents(2);
    both.hide();
    const first = watch(logs[0].append('a-1', events, 'noStream'));
    await both.hidden();
    const second = watch(logs[1].append('a-1', events, 'noStream'));
    await called(1);
    const [one, other] = await shown({ first, second });

    expect(one).toMatchObject({ revision: 1 });
    expect(other).toEqual(one);
    expect(await logs[1].readStream('a-1')).toHaveLength(2);
  });

  it('against a deletion of the stream waits until it is gone', async () => {
    await logs[0].append('a-1', newEvents(1), 'noStream');
    both.hide();
    const deleted = withClient(server.url, (client) => client.deleteStream('a-1'));
    await both.hidden();
    const rejected = watch(logs[0].append('a-1', newEvents(1), 'streamExists'));
    await called(4);
    expect(rejected.outcome).toBeUndefined();
    both.show();
    await deleted;
    await until(() => rejected.outcome !== undefined, 'the rejection');

    expect(rejected.outcome).toMatchObject({ name: 'WrongExpectedRevision', actual: -1 });
    expect(await logs[0].readStream('a-1')).toEqual([]);
  });

  it('to remove a stream gives up in time where it can never win: somebody closed the stream for ever', async () => {
    await logs[0].append('a-1', newEvents(1), 'noStream');
    both.hide();
    const closed = withClient(server.url, (client) => client.tombstoneStream('a-1'));
    await both.hidden();
    const removed = watch(logs[0].delete('a-1', 'any'));
    await called(6);
    expect(removed.outcome).toBeUndefined();
    both.show();
    await closed;
    const appended = calls;
    await until(() => removed.outcome !== undefined, 'its end');

    expect(removed.outcome).toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    expect(calls - appended).toBeLessThan(200);
  });

  it('for the list of removals goes on: each of many is written down', async () => {
    both.lag = () => 10;
    const streams = Array.from({ length: 8 }, (_, index) => `a-${index}`);
    await Promise.all(streams.map((stream) => logs[0].append(stream, newEvents(2), 'noStream')));
    await Promise.all(streams.map(async (stream, index) => logs[index % 2]?.truncate(stream, 1)));

    expect((await logs[0].readAll()).events.map(({ revision }) => revision)).toEqual(streams.map(() => 1));
  });
});
