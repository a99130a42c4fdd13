import * as fc from 'fast-check';
import { type Account, evolveAccount, heldIn, spentIn, UNOPENED } from './account';
import type { Calendar } from './account.events';
import { type Answer, decideMoves, type Move, type Terms } from './moves';
import { summaryOf } from './summaries';

const calendar: Calendar = { window: 'day', timeZone: 'UTC', anchor: null };
const [FIRST, SECOND] = ['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'];
const terms: Terms = { amount: 100n, action: 'block', included: null };
const opened = evolveAccount(UNOPENED, {
  type: 'SpendAccountOpened',
  data: { calendar, window: FIRST, spent: '0', upTo: '05' },
});

const hold = (id: string, estimate: bigint, by = 'p', at = FIRST): Move => ({
  type: 'hold',
  currency: 'USD',
  id,
  by,
  estimate,
  at: Date.parse(at),
});
const settle = (id: string, cost: bigint, position: string | null = '10', at = FIRST): Move => ({
  type: 'settle',
  currency: 'USD',
  id,
  cost,
  at: Date.parse(at),
  position,
});
const free = (id: string, cost: bigint | null, position: string | null = null): Move => ({
  type: 'free',
  currency: 'USD',
  id,
  cost,
  position,
});

/** Decides moves one batch after the other. */
const after = (
  batches: readonly (readonly Move[])[],
  { given = opened, limit = terms } = {},
): { readonly account: Account; readonly answers: readonly Answer[] } => {
  const answers: Answer[] = [];
  const account = batches.reduce((before, moves) => {
    const decided = decideMoves(before, limit, moves, 'USD');
    answers.push(...decided.answers.values());
    return decided.events.reduce(evolveAccount, before);
  }, given);
  return { account, answers };
};
const sums = (account: Account, window = FIRST) => [spentIn(account, window), heldIn(account, window)];

describe('the account of a limit', () => {
  it('holds what a call may cost until it is settled', () => {
    expect(sums(after([[hold('a', 30n)]]).account)).toEqual([0n, 30n]);
    expect(sums(after([[hold('a', 30n)], [settle('a', 12n)]]).account)).toEqual([12n, 0n]);
  });

  it('ends a call once, also where it is settled and freed together, or freed before it is held', () => {
    const ends = [settle('a', 12n), free('a', 12n, '10')];
    for (const together of [ends, ends.toReversed()])
      expect(sums(after([[hold('a', 30n), hold('b', 5n)], together]).account)).toEqual([12n, 5n]);
    const total = evolveAccount(UNOPENED, {
      type: 'SpendAccountOpened',
      data: { calendar: { ...calendar, window: 'total' }, window: null, spent: '0', upTo: '05' },
    });
    const { account } = after([[hold('a', 30n)], ends], { given: total });
    expect([spentIn(account, null), heldIn(account, null)]).toEqual([12n, 0n]);
    const early: Move = { ...free('a', 12n, '10'), at: Date.parse(FIRST) };
    expect(sums(after([[early], [hold('a', 30n)], [free('a', 12n, '10')]]).account)).toEqual([12n, 0n]);
  });

  it('lets calls begin while anything is left, in one batch and in several', () => {
    const calls = ['a', 'b', 'c', 'd'].map((id) => hold(id, 40n));
    for (const batches of [[calls], calls.map((call) => [call])]) {
      const { account, answers } = after(batches);
      expect(answers.map(({ granted }) => granted)).toEqual([true, true, true, false]);
      expect(answers[3]).toEqual({ granted: false, spent: 0n, held: 120n });
      expect(sums(account)).toEqual([0n, 120n]);
    }
  });

  it('lets a call begin with what others leave that end in the same batch', () => {
    const { account, answers } = after([[hold('a', 100n)], [hold('b', 50n), settle('a', 10n)]]);
    expect(answers.map(({ granted }) => granted)).toEqual([true, true]);
    expect(sums(account)).toEqual([10n, 50n]);
  });

  it('answers who asks as it would a call, and holds nothing', () => {
    const ask = (id: string): Move => ({ type: 'ask', currency: 'USD', id, at: Date.parse(FIRST) });
    const { account, answers } = after([[ask('a')], [hold('b', 100n), ask('c')]]);
    expect(answers).toEqual([
      { granted: true, isIncluded: false, isHeld: false },
      { granted: true, isIncluded: false, isHeld: true },
      { granted: false, spent: 0n, held: 100n },
    ]);
    expect(sums(account)).toEqual([0n, 100n]);
  });

  it('only warns where it should', () =>
    expect(
      after([[hold('a', 150n), hold('b', 150n)]], { limit: { ...terms, action: 'warn' } }).answers.map(
        ({ granted }) => granted,
      ),
    ).toEqual([true, true]));

  it('says once that it was reached', () => {
    const types = (account: Account, moves: readonly Move[]) =>
      decideMoves(account, terms, moves, 'USD').events.map(({ type }) => type);
    const { account } = after([[hold('a', 100n), hold('b', 1n)]]);
    expect(types(account, [settle('a', 99n)])).toEqual(['SpendMoved']);
    expect(types(account, [settle('a', 99n), settle('b', 1n)])).toEqual(['SpendMoved', 'SpendLimitReached']);
    expect(types(after([[settle('a', 100n)]], { given: account }).account, [settle('b', 1n)])).toEqual(['SpendMoved']);
  });

  it('says it again for another amount, with the next call, also where that is rejected and the account was summarised', () => {
    const types = (account: Account, moves: readonly Move[], amount: bigint) =>
      decideMoves(account, { ...terms, amount }, moves, 'USD').events.map(({ type }) => type);
    const { account } = after([[hold('a', 60n)], [settle('a', 60n)]]);
    expect(types(account, [hold('b', 1n)], 50n)).toEqual(['SpendLimitReached']);
    const told = after([[hold('b', 1n)]], { given: account, limit: { ...terms, amount: 50n } }).account;
    const summarised = evolveAccount(UNOPENED, summaryOf({ ...told, calendar }));
    for (const known of [told, summarised]) {
      expect(types(known, [hold('c', 1n)], 50n)).toEqual([]);
      expect(types(known, [hold('c', 1n)], 40n)).toEqual(['SpendLimitReached']);
      expect(types(known, [hold('c', 1n)], 70n)).toEqual(['SpendMoved']);
    }
  });

  it('includes calls that begin before the included amount is used up', () =>
    expect(
      after(
        [
          [hold('a', 20n), hold('b', 20n)],
          [settle('a', 1n), hold('c', 1n)],
        ],
        { limit: { ...terms, included: 20n } },
      ).answers,
    ).toEqual([true, false, false].map((isIncluded) => ({ granted: true, isIncluded, isHeld: true }))));

  it('counts a call in the window that it began in, though another is open since', () => {
    const { account } = after([[hold('a', 30n)], [hold('b', 5n, 'p', SECOND)]]);
    expect([sums(account), sums(account, SECOND)]).toEqual([
      [0n, 30n],
      [0n, 5n],
    ]);
    const next = after([[settle('a', 12n)], [hold('c', 80n)], [hold('d', 1n)]], { given: account });
    expect([sums(next.account), sums(next.account, SECOND)]).toEqual([
      [12n, 81n],
      [0n, 5n],
    ]);
    expect(after([[hold('e', 50n), hold('f', 50n)]], { given: account }).answers.map(({ granted }) => granted)).toEqual(
      [true, true],
    );
  });

  it('forgets windows that are closed and have no calls left', () => {
    const days = ['2026-11-22', '2026-11-23', '2026-11-24'].map((day) => `${day}T00:00:00.000Z`);
    const { account } = after([
      [hold('a', 1n)],
      ...days.map((day) => [hold(day, 1n, 'p', day)]),
      [settle(days[0] as string, 1n, '10', days[0] as string)],
      [settle('gone', 1n, '10', days[0] as string)],
    ]);
    expect([...account.windows.keys()]).toEqual([FIRST, days[1], days[2]]);
  });

  it('counts calls that began before the limit was set, once', () => {
    expect(sums(after([[settle('late', 7n)]]).account)).toEqual([7n, 0n]);
    expect(sums(after([[settle('known', 7n, '05')]]).account)).toEqual([0n, 0n]);
    expect(sums(after([[hold('a', 9n)], [settle('a', 7n, '04')]]).account)).toEqual([0n, 0n]);
  });

  it('gives back what dead processes held, and counts what they recorded, once', () => {
    const held = [hold('a', 10n, 'dead'), hold('b', 10n, 'dead')];
    expect(sums(after([held, [free('a', null), free('b', 4n, '10')]]).account)).toEqual([4n, 0n]);
    // They were only thought to be dead.
    expect(
      sums(
        after([held, [free('a', null), free('b', 4n, '10')], [settle('a', 3n), settle('b', 4n)], [settle('b', 4n)]])
          .account,
      ),
    ).toEqual([7n, 0n]);
    expect(sums(after([held, [free('a', null)], [settle('a', 3n)], [settle('c', 1n)]]).account)).toEqual([4n, 10n]);
  });

  it('is the same when it is folded from its summary', () => {
    const call = {
      at: FIRST,
      kind: 'chat' as const,
      userId: 'u',
      keyId: 'k',
      model: 'm',
      priceVersion: 'v',
      inputTokens: 3,
      cost: '3',
    };
    const { account } = after(
      [
        [hold('a', 10n, 'dead'), hold('b', 10n), { ...hold('d', 10n), call } as Move],
        [free('a', null), settle('c', 3n)],
      ],
      { limit: { ...terms, included: 15n } },
    );
    expect(account.holds.get('d')).toEqual({ by: 'p', amount: 10n, window: FIRST, isIncluded: false, call });
    expect(evolveAccount(UNOPENED, summaryOf({ ...account, calendar }))).toEqual({ ...account, moves: 0 });
  });

  it('is never overspent by more than one call, and holds nothing in the end', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ estimate: fc.bigInt(1n, 60n), share: fc.integer({ min: 0, max: 10 }), dies: fc.boolean() }),
          { maxLength: 40 },
        ),
        fc.infiniteStream(fc.nat(5)),
        (calls, choices) => {
          let account = opened;
          const running: { id: string; cost: bigint; dies: boolean }[] = [];
          let spent = 0n;
          const decide = (move: Move) => {
            const { events, answers } = decideMoves(account, terms, [move], 'USD');
            account = events.reduce(evolveAccount, account);
            return answers.get(move.id);
          };
          const end = () => {
            const call = running.shift();
            if (call === undefined) return;
            if (!call.dies) spent += call.cost;
            decide(call.dies ? free(call.id, null) : settle(call.id, call.cost));
          };
          for (const [index, { estimate, share, dies }] of calls.entries()) {
            if ((choices.next().value as number) > 2) end();
            const id = `call-${index}`;
            if (decide(hold(id, estimate))?.granted === true)
              running.push({ id, cost: (estimate * BigInt(share)) / 10n, dies });
          }
          while (running.length > 0) end();
          expect(sums(account)).toEqual([spent, 0n]);
          expect(spent < terms.amount + 60n).toBe(true);
        },
      ),
    ));
});

describe('the currency of an account', () => {
  it('is that of its limit where earlier versions did not write it, and known from the next move on', () => {
    const { events } = decideMoves(opened, terms, [hold('a', 5n)], 'USD');
    expect(events).toMatchObject([{ data: { currency: 'USD' } }]);
    const known = events.reduce(evolveAccount, opened);
    expect(known.currency).toBe('USD');
    expect(evolveAccount(known, summaryOf({ ...known, calendar })).currency).toBe('USD');
    const [next] = decideMoves(known, terms, [hold('b', 5n)], 'EUR').events;
    expect(next?.data).not.toHaveProperty('currency');
  });

  it('is that of all that it adds: other amounts end what is held and count as nothing', () => {
    const euro = { ...settle('a', 50n), currency: 'EUR' } as Move;
    const { account } = after([[hold('a', 30n)], [euro], [{ ...settle('b', 50n), currency: 'EUR' } as Move]]);
    expect(sums(account)).toEqual([0n, 0n]);
  });

  it('is another once the account is opened in it: what was held before is not held in it', () => {
    const { account } = after([[hold('a', 30n)]]);
    const data = { calendar, currency: 'EUR', window: FIRST, spent: '7', upTo: '09' };
    const reopened = evolveAccount(account, { type: 'SpendAccountOpened', data });
    expect([reopened.currency, ...sums(reopened)]).toEqual(['EUR', 7n, 0n]);
  });
});
