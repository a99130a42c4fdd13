import { EventCatalogue, EventCodec, TimeOrderedIds } from '@app/kernel';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { spendingEvents } from '../spending.aggregates';
import { type AccountLimit, OpenAccount } from './open-account';

const ids = new TimeOrderedIds();
const day: AccountLimit = {
  id: ids.next(),
  scope: { type: 'instance', id: null },
  terms: { amount: 1_000n, action: 'block', included: null },
  currency: undefined,
  calendar: { window: 'day', timeZone: 'UTC', anchor: null },
};
const month: AccountLimit = { ...day, calendar: { ...day.calendar, window: 'month' } };

const open = () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(spendingEvents), {
    ensureKey: async () => Buffer.alloc(32),
    keys: async () => new Map(),
  });
  const processes = { id: 'p', alone: true, isAlive: () => true };
  const account = new OpenAccount(
    {
      log,
      codec,
      clock: new FixedClock(),
      ids,
      processes,
      currency: 'USD',
      spentSince: async () => ({ spent: 0n, upTo: null }),
      recorded: async () => undefined,
    },
    day,
  );
  return { log, account };
};
const settle = (id: string) => ({ type: 'settle' as const, currency: 'USD', id, cost: 0n, at: 0, position: null });

test('a move is made whenever it is asked: also in the very moment in which the one before has been', async () => {
  const { account } = open();
  for (let turns = 0; turns < 10; turns += 1) {
    await account.move(day, undefined);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
  }
  expect(await account.state(day)).toMatchObject({ spent: 0n, held: 0n });
});

test('a call that ends under a limit as it was does not bring that back', async () => {
  const { log, account } = open();
  const [first, second] = [ids.next(), ids.next()];
  for (const [limit, id] of [
    [day, first],
    [month, second],
  ] as const)
    await account.move(limit, { type: 'hold', currency: 'USD', id, by: 'p', estimate: 5n, at: 0 });
  await account.move(day, settle(first));
  await account.state(month);
  expect(log.events.filter(({ type }) => type === 'SpendAccountOpened')).toHaveLength(2);
});

test('moves gather behind several that were decided together, and none waits that comes alone', async () => {
  const { log, account } = open();
  await account.state(day);
  const hold = () => account.move(day, { type: 'hold', currency: 'USD', id: ids.next(), by: 'p', estimate: 1n, at: 0 });
  const moves = () => log.events.filter(({ type }) => type === 'SpendMoved').length;
  jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
  try {
    for (let calls = 1; calls <= 3; calls += 1) {
      await hold();
      expect(moves()).toBe(calls);
    }
    const together = [hold(), hold()];
    await Promise.resolve();
    await Promise.resolve();
    const behind = Array.from({ length: 5 }, hold);
    await Promise.all(together);
    expect(moves()).toBe(4);
    await jest.advanceTimersByTimeAsync(3);
    expect(moves()).toBe(4);
    const last = hold();
    await jest.advanceTimersByTimeAsync(1);
    const held = await Promise.all([...behind, last]);
    expect(moves()).toBe(5);
    expect(held.every((answer) => answer?.granted)).toBe(true);

    await jest.advanceTimersByTimeAsync(100);
    const ending = Array.from({ length: 5 }, () => account.move(day, settle(ids.next())));
    await Promise.resolve();
    await Promise.resolve();
    // Behind calls that end nobody waits: no timer runs here.
    await Promise.all([...ending, hold()]);
    expect(moves()).toBe(6);
  } finally {
    jest.useRealTimers();
  }
});
