import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_MS = 5_000;
/** The first looks, a quarter of a minute: a process that rests by then has hardly served, and what is there its start left. */
const LOOKS_OF_START = 3;
/** Later looks in a row at which it must rest, a minute: a collection costs compiled code, and pauses between requests are short. */
const RESTED_LOOKS = 12;
/** A thread that was busy for less than this part of the time between two looks rests. */
const BUSY_MOST = 0.02;
/** Bytes by which the heap must have grown since it was last collected: below that it is not worth standing still for. */
const WORTH_BYTES = 32 * 1024 * 1024;
/** Bytes in use after a collection above which no further one is made: it stands still for about a millisecond for each MiB. */
const MOST_BYTES = 256 * 1024 * 1024;
/** For so long V8 puts off what it would collect at rest by itself. */
const PUT_OFF_MS = 10 * 60_000;
/** Collections through which V8 keeps the shape of objects that are gone; its own default is 2. */
const SHAPES_KEPT = 20;

/** What is known of a heap, in bytes. */
export interface HeapState {
  /** What it takes of the machine's memory. */
  readonly committed: number;
  readonly used: number;
}

export interface Rest {
  /** Part of the time since it was last asked in which the thread worked, 0 to 1. */
  readonly busy: () => number;
  readonly heap: () => HeapState;
  /** Told whether the start left it: then all goes that can. */
  readonly collect: (isStart: boolean) => Promise<void>;
}

/**
 * Gives memory back once nothing is to be done: V8 collects when something is allocated, and a process that rests keeps
 * what its last work left, for hours if need be. What the start left goes at once, anything later when a rest has lasted.
 * Returns what looks once; it is to be called at even intervals.
 */
export const collectorAtRest = ({ busy, heap, collect }: Rest): (() => Promise<void>) => {
  let settled: HeapState = { committed: 0, used: 0 };
  let looks = 0;
  let rested = 0;
  return async () => {
    looks += 1;
    rested = busy() > BUSY_MOST ? 0 : rested + 1;
    const { committed } = heap();
    if (committed < settled.committed) settled = { ...settled, committed };
    const isStart = looks <= LOOKS_OF_START;
    if (
      rested < (isStart ? 1 : RESTED_LOOKS) ||
      committed - settled.committed < WORTH_BYTES ||
      settled.used > MOST_BYTES
    )
      return;
    await collect(isStart);
    settled = heap();
  };
};

/**
 * Looks for as long as the process runs, without keeping it alive. V8 itself would collect after eight seconds with little to
 * do, and throw away code that it compiled for objects of which none is alive just then, to compile it worse than before: after
 * a pause a request cost up to half as much again for ten seconds, and a tenth more for good. So its own collection at rest is
 * put off, and the shapes of such objects are kept; for a while only, since JSON that callers send makes shapes too.
 */
export const collectAtRest = (): void => {
  for (const flag of [
    '--expose-gc',
    `--memory-reducer-delay-ms=${PUT_OFF_MS}`,
    `--retain-maps-for-n-gc=${SHAPES_KEPT}`,
  ])
    setFlagsFromString(flag);
  const gc = runInNewContext('gc') as (options: {
    type: 'major';
    flavor: 'regular' | 'last-resort';
    execution: 'async';
  }) => Promise<void>;
  let before = performance.eventLoopUtilization();
  const busy = (): number => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
  const look = collectorAtRest({
    busy,
    heap: () => {
      const { total_heap_size: committed, used_heap_size: used } = getHeapStatistics();
      return { committed, used };
    },
    collect: (isStart) => gc({ type: 'major', flavor: isStart ? 'last-resort' : 'regular', execution: 'async' }),
  });
  setInterval(() => void look(), LOOK_MS).unref();
};
