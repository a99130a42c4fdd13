import { EventEmitter } from 'node:events';
import type { Connection } from './connection';
import { Listener } from './listener';
import { positionText } from './positions';
import type { EventStoreReadIndex } from './read-index';
import { ServerFault } from './server-errors';
import { ownTimers } from '../../../../test/fixtures/own-timers';

const at = (position: number): string => positionText(String(position));

/** A call of a subscription, as much of it as a listener uses. */
class FakeCall extends EventEmitter {
  isCancelled = false;

  cancel(): void {
    this.isCancelled = true;
  }

  tell(position: number): void {
    this.emit('data', {
      getEvent: () => ({ getEvent: () => ({ getCommitPosition: () => String(position) }) }),
      getCheckpoint: () => undefined,
    });
  }
}

const setUp = () => {
  const calls: FakeCall[] = [];
  // Of a connection and of an index only what a listener asks: both classes have private members.
  const connection = {
    read: async (_request: unknown, attach: (call: FakeCall) => void) => {
      const call = new FakeCall();
      calls.push(call);
      attach(call);
    },
  } as unknown as Connection;
  const index = {
    newest: at(10),
    newestOfOurs: at(10),
    timeline: 1,
    askedAt: performance.now(),
    ask: jest.fn(async () => void (index.askedAt = performance.now())),
    reach: jest.fn(async (position: string) => void (index.newest = index.newestOfOurs = position)),
    isBeyond: (position: string) => position > index.newest,
  };
  const listener = new Listener(connection, index as unknown as EventStoreReadIndex);
  const follower = { position: () => at(10), withForeign: false, onAppended: jest.fn(), onLost: jest.fn() };
  const unlisten = listener.add(follower);
  return { calls, index, listener, follower, unlisten };
};

describe('one listener for all followers', () => {
  let timers: ReturnType<typeof ownTimers>;
  beforeEach(() => {
    jest.useFakeTimers();
    timers = ownTimers();
  });
  afterEach(() => jest.useRealTimers());

  it('asks once in 15 s where nothing is written, and keeps its one subscription', async () => {
    const { calls, index, follower, unlisten } = setUp();
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    expect(index.ask.mock.calls.length).toBeGreaterThan(25);
    expect(index.ask.mock.calls.length).toBeLessThanOrEqual(40);
    expect(calls).toHaveLength(1);
    expect(follower.onAppended).not.toHaveBeenCalled();
    unlisten();
    expect(calls[0]?.isCancelled).toBe(true);
    expect(timers.left).toBe(0);
  });

  it('asks nothing where others ask', async () => {
    const { index } = setUp();
    for (let second = 0; second < 120; second += 1) {
      index.askedAt = performance.now();
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(index.ask).not.toHaveBeenCalled();
  });

  it('has what it is told of read once, and wakes who has not seen it when it is read', async () => {
    const { calls, index, listener, follower } = setUp();
    calls[0]?.tell(20);
    expect(index.reach).toHaveBeenCalledWith(at(20));
    expect(follower.onAppended).not.toHaveBeenCalled();
    listener.onNews(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(follower.onAppended).toHaveBeenCalledTimes(1);
    follower.position = () => at(20);
    listener.onNews(false);
    await jest.advanceTimersByTimeAsync(100);
    expect(follower.onAppended).toHaveBeenCalledTimes(1);
  });

  it("wakes by a few events of others' only those who are shown them", async () => {
    const { index, listener, follower } = setUp();
    const counting = { position: () => at(10), withForeign: true, onAppended: jest.fn(), onLost: jest.fn() };
    listener.add(counting);
    index.newest = at(20);
    listener.onNews(true);
    await jest.advanceTimersByTimeAsync(100);
    expect([counting.onAppended.mock.calls.length, follower.onAppended.mock.calls.length]).toEqual([1, 0]);
    // What is gathered with one of ours wakes all.
    listener.onNews(true);
    listener.onNews(false);
    listener.onNews(true);
    await jest.advanceTimersByTimeAsync(100);
    expect([counting.onAppended.mock.calls.length, follower.onAppended.mock.calls.length]).toEqual([2, 1]);
  });

  it('wakes all once when the log is another, also where it ends before their places', async () => {
    const { index, listener, follower } = setUp();
    index.timeline += 1;
    index.newest = index.newestOfOurs = at(5);
    listener.onNews(false);
    await jest.advanceTimersByTimeAsync(100);
    expect(follower.onAppended).toHaveBeenCalledTimes(1);
    listener.onNews(false);
    await jest.advanceTimersByTimeAsync(100);
    expect(follower.onAppended).toHaveBeenCalledTimes(1);
  });

  it('is replaced when it does not tell what the log holds, and when the log is another', async () => {
    const { calls, index } = setUp();
    index.newest = index.newestOfOurs = at(20);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls.map(({ isCancelled }) => isCancelled)).toEqual([true, false]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toHaveLength(2);
    index.timeline += 1;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(calls.map(({ isCancelled }) => isCancelled)).toEqual([true, true, false]);
  });

  it('is replaced in quiet when the server drops it, and says so to all when the server is gone', async () => {
    const { calls, index, follower } = setUp();
    calls[0]?.emit('end');
    await jest.advanceTimersByTimeAsync(100);
    expect(calls).toHaveLength(2);
    expect(follower.onLost).not.toHaveBeenCalled();
    calls[1]?.emit('error', new ServerFault('broken'));
    expect(follower.onLost).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(60_000);
    expect([calls.length, index.ask.mock.calls.length]).toEqual([2, 0]);
  });

  it('tells all when the log cannot be asked', async () => {
    const { calls, index, follower } = setUp();
    index.reach.mockRejectedValueOnce(new Error('it is away'));
    calls[0]?.tell(20);
    await jest.advanceTimersByTimeAsync(0);
    expect(follower.onLost).toHaveBeenCalledTimes(1);
    expect(calls[0]?.isCancelled).toBe(true);
  });
});
