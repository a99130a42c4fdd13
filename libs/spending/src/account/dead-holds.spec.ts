import { Unavailable } from '@app/kernel';
import type { RecordedCost } from '../invocations/usage-stream';
import type { Hold } from './account';
import { DeadHolds } from './dead-holds';

const hold = (by: string): Hold => ({ by, amount: 30n, window: null, isIncluded: false });
const holds = (by: Readonly<Record<string, string>>): ReadonlyMap<string, Hold> =>
  new Map(Object.entries(by).map(([id, process]) => [id, hold(process)]));
const cost: RecordedCost = { cost: 7n, currency: 'EUR', position: '12' };

let now = 0;
beforeEach(() => {
  now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

/** Holds as the process `here` sees them, where those that are named live. */
const setUp = (recorded: (id: string) => Promise<RecordedCost | undefined> = async () => cost) => {
  const alive = new Set<string>();
  const [asked, processes]: [string[], { id: string; alone: boolean; isAlive(id: string): boolean }] = [
    [],
    { id: 'here', alone: false, isAlive: (id) => alive.has(id) },
  ];
  const dead = new DeadHolds({
    processes,
    recorded: (id) => {
      asked.push(id);
      return recorded(id);
    },
  });
  const ended = async (of: Readonly<Record<string, string>>) => (await dead.moves(holds(of))).map(({ id }) => id);
  /** Long enough for whoever is not heard of. */
  const doubt = async (of: Readonly<Record<string, string>>) => {
    expect(await ended(of)).toEqual([]);
    now += 5_000;
  };
  return { dead, alive, asked, processes, ended, doubt };
};

describe('holds of processes', () => {
  it('are ended once a process is not heard of for five seconds, and those of others and of this one stay', async () => {
    const { alive, ended, asked } = setUp();
    alive.add('there');
    const of = { a: 'gone', b: 'there', c: 'here' };
    expect(await ended(of)).toEqual([]);
    now += 4_999;
    expect(await ended(of)).toEqual([]);
    expect(asked).toEqual([]);
    now += 1;
    expect(await ended(of)).toEqual(['a']);
    expect(asked).toEqual(['a']);
  });

  it('stay where the process is heard of again: then it is waited for anew', async () => {
    const { alive, ended, doubt } = setUp();
    const of = { a: 'there' };
    await doubt(of);
    alive.add('there');
    expect(await ended(of)).toEqual([]);
    alive.delete('there');
    await doubt(of);
    expect(await ended(of)).toEqual(['a']);
  });

  it('are ended at once where no other process lives, but for those of this one', async () => {
    const { processes, ended } = setUp();
    processes.alone = true;
    expect(await ended({ a: 'gone', b: 'here' })).toEqual(['a']);
  });

  it('are ended by what was recorded of their calls, where it stands in the log, and by nothing where none was', async () => {
    const { processes, dead } = setUp(async (id) => (id === 'a' ? cost : undefined));
    processes.alone = true;
    expect(await dead.moves(holds({ a: 'gone', b: 'gone' }))).toEqual([
      { type: 'free', id: 'a', cost: 7n, currency: 'EUR', position: '12' },
      { type: 'free', id: 'b', cost: null, currency: '', position: null },
    ]);
  });

  it('are asked about once, also while no answer comes, which no move waits for', async () => {
    const answer = Promise.withResolvers<RecordedCost | undefined>();
    const { processes, asked, ended } = setUp(() => answer.promise);
    processes.alone = true;
    expect(await ended({ a: 'gone' })).toEqual([]);
    expect(await ended({ a: 'gone' })).toEqual([]);
    answer.resolve(cost);
    await answer.promise;
    expect(await ended({ a: 'gone' })).toEqual(['a']);
    expect(await ended({ a: 'gone' })).toEqual(['a']);
    expect(asked).toEqual(['a']);
    // What is remembered of it goes with it.
    expect(await ended({})).toEqual([]);
    expect(await ended({ a: 'gone' })).toEqual(['a']);
    expect(asked).toEqual(['a', 'a']);
  });

  it('stay while what was recorded is not known, and are asked about again', async () => {
    let isAway = true;
    const { processes, ended } = setUp(async () => {
      if (isAway) throw new Unavailable('search', 'late');
      return cost;
    });
    processes.alone = true;
    expect(await ended({ a: 'gone' })).toEqual([]);
    isAway = false;
    expect(await ended({ a: 'gone' })).toEqual(['a']);
  });

  it('are not ended in silence where what was recorded cannot be read', async () => {
    const { processes, ended } = setUp(() => Promise.reject(new Error('damaged')));
    processes.alone = true;
    await expect(ended({ a: 'gone' })).rejects.toThrow('damaged');
  });
});
