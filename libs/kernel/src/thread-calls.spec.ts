import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { until } from '../../../test/fixtures/until';
import { callHere, callThread, DomainError, Unavailable } from '.';

/** What the thread below serves. */
interface Counter {
  add(number: number): number;
  addLater(number: number): Promise<number>;
  reject(): void;
  die(): Promise<void>;
  threadId(): number;
  close(): void;
}

const start = (): Worker =>
  new Worker(
    `const { DomainError, serveCalls } = require('@app/kernel');
     let sum = 0;
     serveCalls({
       add: (number) => (sum += number),
       addLater: (number) => new Promise((resolve) => setTimeout(() => resolve((sum += number)), 50)),
       reject: () => { throw new DomainError('not_found', { id: 7 }); },
       die: () => new Promise(() => setTimeout(() => { throw new Error('out of luck'); })),
       threadId: () => require('node:worker_threads').threadId,
       close: () => { sum = NaN; },
     });`,
    { eval: true },
  );

/** A thread that says what it is told to say, when it is told to. */
class FakeThread extends EventEmitter {
  readonly asked: { readonly id: number }[] = [];
  postMessage(requests: readonly { readonly id: number }[]): void {
    this.asked.push(...requests);
  }
  ref(): void {}
  unref(): void {}
}

describe('calls to a thread', () => {
  const calls = callThread<Counter>('counter', start, [DomainError, Unavailable]);
  afterEach(() => calls.close());

  it('are answered in the order of the calls, by one thread', async () => {
    expect(await Promise.all([calls.call('add', 1), calls.call('add', 2), calls.call('add', 3)])).toEqual([1, 3, 6]);
    expect(await calls.call('threadId')).toBe(await calls.call('threadId'));
  });

  it('that are made together are answered together, each as it ended', async () => {
    let messages = 0;
    const counting = callThread<Counter>('counter', () => start().on('message', () => (messages += 1)), [DomainError]);
    const asked = [
      counting.call('add', 1),
      counting.call('reject'),
      counting.call('addLater', 1),
      counting.call('add', 1),
    ];
    const answers = await Promise.allSettled(asked);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(messages).toBe(2);
    await counting.close();
  });

  it('throw what the thread threw, as what it was', async () => {
    const rejected = calls.call('reject');
    await expect(rejected).rejects.toBeInstanceOf(DomainError);
    await expect(rejected).rejects.toMatchObject({
      name: 'DomainError',
      message: 'not_found',
      code: 'not_found',
      facts: { id: 7 },
    });
  });

  it('fail alone where they cannot be sent', async () => {
    // What the types forbid: functions are not copied between threads.
    const unsendable = calls.call('add', (() => 1) as unknown as number);
    const [first, second] = [calls.call('add', 1), calls.call('add', 0)];
    await expect(unsendable).rejects.toThrow('could not be cloned');
    expect(await second).toBe(await first);
  });

  it('under way when the thread dies have an unknown outcome, and the next one meets a new thread', async () => {
    const before = await calls.call('threadId');
    await expect(calls.call('die')).rejects.toMatchObject({
      name: 'Unavailable',
      dependency: 'counter',
      reason: 'out of luck',
      outcome: 'unknown',
    });
    expect(await calls.call('threadId')).not.toBe(before);
    expect(await calls.call('add', 5)).toBe(5);
  });

  it('are answered before the thread is closed', async () => {
    const last = calls.call('add', 4);
    await calls.close();
    expect(await last).toBe(4);
  });

  it('under way for some time end before the object is closed', async () => {
    const slow = calls.call('addLater', 4);
    await calls.close();
    expect(await slow).toBe(4);
  });

  it('meet a new thread from the moment on in which the old one is to close', async () => {
    const before = calls.call('threadId');
    const closed = calls.close();
    const after = calls.call('threadId');
    expect(await before).not.toBe(await after);
    await closed;
    expect(await calls.call('threadId')).toBe(await after);
  });

  it('are neither answered nor rejected by a thread that was not asked', async () => {
    const threads: FakeThread[] = [];
    // As much of a worker as calls need: what is sent to it, and when it answers, is the test's.
    const twice = callThread<Counter>(
      'counter',
      () => (threads[threads.length] = new FakeThread()) as unknown as Worker,
      [],
    );
    const first = twice.call('add', 1);
    await until(() => threads[0]?.asked.length === 1);
    const closed = Promise.allSettled([twice.close()]);
    const second = twice.call('add', 2);
    await until(() => threads[1]?.asked.length === 1);
    const [old, young] = threads as [FakeThread, FakeThread];
    for (const { id } of young.asked) old.emit('message', [{ id, value: 99 }]);
    old.emit('exit', 1);
    await expect(first).rejects.toMatchObject({ outcome: 'unknown' });
    for (const { id } of young.asked) young.emit('message', [{ id, value: 2 }]);
    expect(await second).toBe(2);
    expect(await closed).toMatchObject([{ status: 'rejected', reason: { outcome: 'unknown' } }]);
  });
});

it('calls to an object in the same thread answer and throw alike', async () => {
  const calls = callHere<Counter>({
    add: (number) => number,
    addLater: async (number) => number,
    reject: () => {
      throw new DomainError('conflict');
    },
    die: async () => undefined,
    threadId: () => 0,
    close: () => undefined,
  });
  expect(await calls.call('add', 2)).toBe(2);
  await expect(calls.call('reject')).rejects.toEqual(new DomainError('conflict'));
});
