import { newEvent } from '../contract/log-under-test.contract';
import { KnownLog } from './known-log';
import { ownTimers } from '../../../../test/fixtures/own-timers';

/** A log of which commits are told; `rung` says when its followers were. */
const followed = () => {
  const known = new KnownLog();
  const begun = performance.now();
  const rung: number[] = [];
  known.listen(() => rung.push(performance.now() - begun));
  const commitFor = async (milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 1) {
      known.onCommitted();
      await jest.advanceTimersByTimeAsync(1);
    }
  };
  return { known, rung, commitFor };
};

describe('those who follow the log in memory', () => {
  let timers: ReturnType<typeof ownTimers>;
  beforeEach(() => {
    jest.useFakeTimers();
    timers = ownTimers();
  });
  afterEach(() => {
    expect(timers.left).toBe(0);
    jest.useRealTimers();
  });

  it('are told of a commit that comes alone at once, behind who appended', async () => {
    const { known, rung } = followed();
    for (const pause of [0, 100, 10]) {
      await jest.advanceTimersByTimeAsync(pause);
      known.onCommitted();
      await jest.advanceTimersByTimeAsync(1);
    }
    expect(rung).toEqual([1, 102, 113]);
  });

  it('are told of many that follow each other together, the last among them', async () => {
    const { rung, commitFor } = followed();
    await commitFor(25);
    await jest.advanceTimersByTimeAsync(100);
    expect(rung).toEqual([1, 11, 21, 31]);
  });

  it('are told where that began and ended, and of which types it was, unless the log was opened in between', async () => {
    const known = new KnownLog();
    const told: unknown[] = [];
    known.listen((round) => told.push(round && { ...round, types: [...round.types] }));
    let position = 7;
    const append = async (...types: string[]): Promise<void> => {
      position += types.length;
      const events = types.map((type) => newEvent({ type }));
      known.onAppended({ kind: 'append', id: 1, stream: 'a-1', events, expected: 'any', bytes: 1 }, position, 0);
      known.onCommitted();
      await jest.advanceTimersByTimeAsync(20);
    };
    const opened = async (): Promise<void> => {
      known.onUp(position, position);
      await append('Noted');
    };
    await opened();
    await append('Noted', 'Other', 'Noted');
    await append('Other');
    await opened();
    await append('Noted');
    const at = (end: number): string => String(end).padStart(16, '0');
    expect(told).toEqual([
      undefined,
      { after: at(8), upTo: at(11), types: ['Noted', 'Other'] },
      { after: at(11), upTo: at(12), types: ['Other'] },
      undefined,
      { after: at(13), upTo: at(14), types: ['Noted'] },
    ]);
  });

  it('are told at once where somebody waits for them', async () => {
    const { known, rung, commitFor } = followed();
    await commitFor(3);
    known.deliverNow();
    await jest.advanceTimersByTimeAsync(1);
    expect(rung).toEqual([1, 4]);
    known.deliverNow();
    await jest.advanceTimersByTimeAsync(100);
    expect(rung).toHaveLength(2);
  });
});

it('an end that was known of a stream is forgotten where an append finds none', () => {
  const known = new KnownLog();
  known.onWrongRevision('a-1', 5);
  expect(known.endOf('a-1')).toBe(5);
  known.onWrongRevision('a-1', -1);
  expect(known.endOf('a-1')).toBeUndefined();
});
