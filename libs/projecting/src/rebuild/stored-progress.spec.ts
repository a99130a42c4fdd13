import { MemoryLog, positionOf } from '../../../../test/fixtures/memory-log';
import { counted, elsewhere, opened } from '../../../../test/fixtures/counters';
import type { BuildRecords } from './rebuild-record';
import { sliceOf } from '../views/slices';
import { StoredProgress } from './stored-progress';
import type { ViewStore } from '../views/view-store';

const SLICES = 2;
/** A stream of each slice. */
const [first, second] = [0, 1].map(
  (slice) =>
    Array.from({ length: 20 }, (_, number) => `counter-${number}`).find(
      (stream) => sliceOf(stream, SLICES) === slice,
    ) as string,
) as [string, string];

/** A build of two slices that stand where `places` says, one after the other at each look. */
const progressOver = (
  log: MemoryLog,
  ...places: readonly (readonly [number | null, number | null])[]
): StoredProgress => {
  const left = [...places];
  const place = async (slice: number) => {
    const at = (left[0] as (typeof places)[number])[slice] ?? null;
    if (slice === SLICES - 1 && left.length > 1) left.shift();
    return { position: at === null ? null : positionOf(at), handled: 1 };
  };
  // What progress asks of a view and of its builds.
  const store = {
    types: ['CounterOpened', 'Counted'],
    live: async () => 1,
    checkpoint: async (_version: number, slice: number) => place(slice),
  } as unknown as ViewStore;
  return new StoredProgress(store, { slices: async () => SLICES } as unknown as BuildRecords, log);
};

describe('the progress of a view that others write', () => {
  let log: MemoryLog;
  beforeEach(async () => {
    log = new MemoryLog();
    await log.append(first, [opened('a')], 'noStream');
    await log.append(second, [opened('b')], 'noStream');
    await log.append('other-1', [elsewhere()], 'noStream');
    await log.append(first, [counted()], 0);
  });

  it('misses the oldest event that its slice has not handled', async () => {
    expect((await progressOver(log, [1, null]).missing(1, positionOf(4)))?.stream).toBe(second);
    expect((await progressOver(log, [1, 2]).missing(1, positionOf(4)))?.position).toBe(positionOf(4));
  });

  it('misses nothing where only events of other slices, types or later positions stand between', async () => {
    expect(await progressOver(log, [4, 2]).missing(1, positionOf(4))).toBeUndefined();
    expect(await progressOver(log, [1, 2]).missing(1, positionOf(3))).toBeUndefined();
  });

  it('has reached what stands before the oldest event that it misses, wherever slices without events stand', async () => {
    expect(await progressOver(log, [1, 2]).reached(1, positionOf(4))).toBe(positionOf(3));
    expect(await progressOver(log, [1, null]).reached(1, positionOf(4))).toBe(positionOf(1));
    expect(await progressOver(log, [null, null]).reached(1, positionOf(4))).toBeNull();
    expect(await progressOver(log, [4, 2]).reached(1, positionOf(4))).toBe(positionOf(4));
    await log.append(first, [counted()], 1);
    expect(await progressOver(log, [4, 2]).reached(1, positionOf(5))).toBe(positionOf(4));
  });

  it('is told in a few pages, however many events of other slices stand between: the next call reads on', async () => {
    for (let part = 0; part < 6; part += 1)
      await log.append(
        first,
        Array.from({ length: 500 }, () => counted()),
        'any',
      );
    await log.append(second, [counted()], 'any');
    const progress = progressOver(log, [3_004, 2]);
    const read = jest.spyOn(log, 'readAll');
    expect(await progress.reached(1, positionOf(3_005))).toBe(positionOf(2_003));
    expect(read).toHaveBeenCalledTimes(4);
    expect(await progress.reached(1, positionOf(3_005))).toBe(positionOf(3_004));
  });

  it('is waited for, and not for ever', async () => {
    expect(await progressOver(log, [null, null], [1, null], [1, 2], [4, 2]).wait(positionOf(4), 10_000)).toBe(true);
    expect(await progressOver(log, [1, 2]).wait(positionOf(4), 30)).toBe(false);
  });

  it('adds what the slices have handled', async () => {
    expect(await progressOver(log, [1, 2]).handled(1)).toBe(2);
  });
});
