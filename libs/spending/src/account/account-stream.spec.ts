import { checkAppend } from '@app/event-log';
import { EventCatalogue, EventCodec, type NewEvent, TimeOrderedIds } from '@app/kernel';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { spendingEvents } from '../spending.aggregates';
import type { CallReservation } from './account.events';
import type { Move } from './moves';
import { type AccountLimit, OpenAccount } from './open-account';

/** Of EventStoreDB: the least that any log takes. */
const LIMITS = { event: 1024 * 1024, append: 1024 * 1024 };
const ids = new TimeOrderedIds();
const limit: AccountLimit = {
  id: ids.next(),
  scope: { type: 'instance', id: null },
  terms: { amount: 1_000_000n, action: 'block', included: null },
  currency: undefined,
  calendar: { window: 'total', timeZone: 'UTC', anchor: null },
};
/** As much as a call can say: three bytes for each character of the longest key that a model may have. */
const call: CallReservation = {
  at: '2026-11-21T12:00:00.000Z',
  kind: 'embedding',
  userId: ids.next(),
  keyId: ids.next(),
  agentId: ids.next(),
  spaceId: ids.next(),
  model: '模'.repeat(200),
  priceVersion: '0123456789abcdef',
  inputTokens: 10_000_000,
  cost: '1000000000000000000',
};

const open = () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(spendingEvents), {
    ensureKey: async () => Buffer.alloc(32),
    keys: async () => new Map(),
  });
  const dead = new Set<string>();
  const process = (id: string) =>
    new OpenAccount(
      {
        log,
        codec,
        clock: new FixedClock(),
        ids,
        processes: { id, alone: false, isAlive: (other) => !dead.has(other) },
        doubtMs: 0,
        currency: 'USD',
        spentSince: async () => ({ spent: 0n, upTo: null }),
        recorded: async () => undefined,
      },
      limit,
    );
  const appended: (readonly NewEvent[])[] = [];
  const append = log.append.bind(log);
  log.append = async (stream, events, expected) => {
    appended.push(events);
    return append(stream, events, expected);
  };
  return { log, process, appended, dead };
};

const hold = (by: string): Move => ({ type: 'hold', currency: 'USD', id: ids.next(), by, estimate: 7n, at: 0, call });
const settle = (id: string): Move => ({ type: 'settle', currency: 'USD', id, cost: 1n, at: 0, position: null });
const largestOf = (events: readonly NewEvent[]): number =>
  Math.max(...events.map(({ data }) => Buffer.byteLength(data)));
/** How many events were read. */
const eventsOf = async (read: jest.SpiedFunction<MemoryLog['readStream']>): Promise<number> =>
  (await Promise.all(read.mock.results.map(async ({ value }) => ((await value) as readonly unknown[]).length))).reduce(
    (sum, length) => sum + length,
    0,
  );

describe('the stream of an account', () => {
  it.each([250, 2_000])(
    'is folded from a bounded number of events while %i calls hold under the limit',
    async (running) => {
      const { log, process } = open();
      const account = process('p');
      await Promise.all(Array.from({ length: running }, () => account.move(limit, hold('p'))));
      for (let moves = 0; moves < 400; moves += 1) {
        const next = hold('p');
        await account.move(limit, next);
        if (moves % 2 === 0) await account.move(limit, settle(next.id));
      }
      const read = jest.spyOn(log, 'readStream');
      const [known, found] = [await account.state(limit), await process('q').state(limit)];
      expect(found).toEqual(known);
      expect([found.holds.size, found.spent, found.held]).toEqual([running + 200, 200n, BigInt(7 * (running + 200))]);
      // A hundred of moves, and twice as many events as it takes to tell of the calls.
      expect(await eventsOf(read)).toBeLessThanOrEqual(300);
    },
  );

  it('is folded from a bounded number of events also by a process that looks again after a long time', async () => {
    const { log, process } = open();
    const [busy, idle] = [process('p'), process('q')];
    const held = Array.from({ length: 1_000 }, () => hold('p'));
    await Promise.all(held.map((call) => busy.move(limit, call)));
    await idle.state(limit);
    // What it knows is over since, and other calls run.
    await Promise.all(Array.from({ length: 500 }, () => busy.move(limit, hold('p'))));
    for (const { id } of held) await busy.move(limit, settle(id));
    const read = jest.spyOn(log, 'readStream');
    const [known, found] = [await busy.state(limit), await idle.state(limit)];
    expect(found).toEqual(known);
    expect([found.holds.size, found.spent]).toEqual([500, 1_000n]);
    expect(await eventsOf(read)).toBeLessThanOrEqual(400);
  });

  it('keeps every append small enough while the largest batches of calls begin as parts of a summary are written', async () => {
    const { process, appended } = open();
    const account = process('p');
    await Promise.all(Array.from({ length: 2_000 }, () => account.move(limit, hold('p'))));
    for (let round = 0; round < 55; round += 1) {
      const calls = Array.from({ length: 500 }, () => hold('p'));
      await Promise.all(calls.map((call) => account.move(limit, call)));
      await Promise.all(calls.map(({ id }) => account.move(limit, settle(id))));
    }
    expect(appended.filter((events) => events.length > 1 && largestOf(events) > 500_000).length).toBeGreaterThan(0);
    for (const events of appended) checkAppend('spendAccount-a', events, LIMITS);
  });

  it('keeps every append small enough when a process dies that held for many calls', async () => {
    const { process, appended, dead } = open();
    const [dying, living] = [process('p'), process('q')];
    await Promise.all(Array.from({ length: 2_000 }, () => dying.move(limit, hold('p'))));
    dead.add('p');
    const before = appended.length;
    await Promise.all(Array.from({ length: 500 }, () => living.move(limit, hold('q'))));
    expect(await living.state(limit)).toMatchObject({ spent: 0n, held: 3_500n });
    const freed = appended
      .slice(before)
      .flat()
      .map(({ data }) => (JSON.parse(data) as { freed?: unknown[] }).freed?.length ?? 0);
    expect(Math.max(...freed)).toBeLessThanOrEqual(500);
    for (const events of appended) checkAppend('spendAccount-a', events, LIMITS);
  });
});
