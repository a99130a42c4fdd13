import * as fc from 'fast-check';
import { type Account, evolveAccount, UNOPENED } from './account';
import type { AccountEvent, Calendar } from './account.events';
import { decideMoves, type Move, type Terms } from './moves';
import { summaryDue, summaryOf } from './summaries';

const DAY_MS = 24 * 60 * 60_000;
const calendar: Calendar = { window: 'day', timeZone: 'UTC', anchor: null };
const START = Date.parse('2026-11-20T00:00:00.000Z');
const window = new Date(START).toISOString();
const terms: Terms = { amount: 50n, action: 'warn', included: 10n };
const sizes = { every: 4, holdsAtOnce: 2 };

const opening: AccountEvent = { type: 'SpendAccountOpened', data: { calendar, window, spent: '0', upTo: '05' } };
const holdOf = (id: string, at = START): Move => ({ type: 'hold', currency: 'USD', id, by: 'p', estimate: 3n, at });
const endOf = (id: string, at = START): Move => ({ type: 'settle', currency: 'USD', id, cost: 2n, at, position: null });
const folded = (events: readonly AccountEvent[]): Account => events.reduce(evolveAccount, UNOPENED);

/** A stream as it is written append by append, a batch of moves each. */
const written = (batches: readonly ((given: Account) => readonly AccountEvent[])[]): readonly AccountEvent[] => {
  const stream: AccountEvent[] = [opening];
  let account = folded(stream);
  for (const batch of batches) {
    const events = batch(account);
    if (events.length === 0) continue;
    const next = events.reduce(evolveAccount, account);
    const summary = summaryDue(next, sizes);
    stream.push(...events, ...(summary === undefined ? [] : [summary]));
    account = summary === undefined ? next : evolveAccount(next, summary);
  }
  return stream;
};
const moving =
  (...moves: readonly Move[]) =>
  (given: Account): readonly AccountEvent[] =>
    decideMoves(given, terms, moves, 'USD').events;
const typesOf = (stream: readonly AccountEvent[]): readonly string[] =>
  stream.map(({ type }) => type.replace('Spend', ''));

/** What whoever opens the account folds: from the last summary on, or from its first part. */
const read = (stream: readonly AccountEvent[]): readonly AccountEvent[] => {
  const last = stream.findLastIndex(({ type }) => type === 'SpendSummarised');
  const summary = stream[last];
  return summary?.type === 'SpendSummarised' ? stream.slice(last - (summary.data.reachesBack ?? 0)) : stream;
};

describe('the summary of an account', () => {
  it('is one event where few calls hold', () =>
    expect(typesOf(written([moving(holdOf('a')), moving(holdOf('b')), moving(endOf('a'))]))).toEqual([
      'AccountOpened',
      'Moved',
      'Moved',
      'Moved',
      'Summarised',
    ]));

  it('comes in parts, one with each append, where more do', () => {
    const stream = written([
      moving(...['a', 'b', 'c', 'd', 'e'].map((id) => holdOf(id))),
      moving(holdOf('f')),
      moving(endOf('a')),
      moving(endOf('d'), holdOf('g')),
      moving(endOf('e')),
      moving(endOf('g')),
    ]);
    expect(typesOf(stream)).toEqual([
      'AccountOpened',
      'Moved',
      'Moved',
      'Moved',
      'HoldsSummarised',
      'Moved',
      'Summarised',
      'Moved',
      'Moved',
    ]);
    expect(
      stream.flatMap((event) =>
        event.type === 'SpendHoldsSummarised' || event.type === 'SpendSummarised'
          ? [event.data.holds.map(({ id }) => id)]
          : [],
      ),
    ).toEqual([
      ['b', 'c'],
      ['e', 'f'],
    ]);
    expect(read(stream)).toHaveLength(5);
    expect(folded(read(stream))).toEqual(folded(stream));
    expect([...folded(stream).holds.keys()].toSorted()).toEqual(['b', 'c', 'f']);
  });

  it('of an earlier version tells of all holds in one event, however many', () => {
    const many = folded([
      opening,
      ...moving(...Array.from({ length: 1_000 }, (_, index) => holdOf(`call-${index}`)))(folded([opening])),
    ]);
    expect(folded([summaryOf({ ...many, calendar })])).toEqual({ ...many, moves: 0 });
  });

  it('is what the events before it come to, however calls begin and end while its parts are written', () => {
    const batch = fc.record({
      begin: fc.nat(5),
      end: fc.array(fc.nat(30), { maxLength: 3 }),
      day: fc.nat(2),
      opens: fc.integer({ min: 0, max: 9 }).map((chance) => chance === 0),
    });
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 40 }), (facts) => {
        let begun = 0;
        const batches = facts.map(({ begin, end, day, opens }) => (given: Account): readonly AccountEvent[] => {
          const at = START + day * DAY_MS;
          if (opens)
            return [
              {
                type: 'SpendAccountOpened',
                data: { calendar, window: new Date(at).toISOString(), spent: '7', upTo: null },
              },
            ];
          const running = [...given.holds.keys()].toSorted();
          const ends = end
            .flatMap((which) => running[which] ?? [])
            .map((id): Move =>
              day === 2 ? { type: 'free', currency: 'USD', id, cost: null, position: null } : endOf(id, at),
            );
          return moving(...ends, ...Array.from({ length: begin }, () => holdOf(`call-${(begun += 1)}`, at)))(given);
        });
        const stream = written(batches);
        for (let length = 1; length <= stream.length; length += 1) {
          const [known, needed] = [stream.slice(0, length), read(stream.slice(0, length))];
          expect(folded(needed)).toEqual(folded(known));
          for (const event of needed)
            if (event.type === 'SpendHoldsSummarised' || event.type === 'SpendSummarised')
              expect(event.data.holds.length).toBeLessThanOrEqual(sizes.holdsAtOnce);
        }
      }),
      { numRuns: 200 },
    );
  });
});
