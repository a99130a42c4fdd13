import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work in short steps: whoever runs it decides when others may run in between. */
export type Stepwise<T> = Generator<void, T>;

/** Milliseconds after which others may run. */
const TURN_MS = 10;

/** One work in each turn of the event loop, however many there are. */
let turns: Promise<void> = Promise.resolve();
let working = 0;

/** Does the work without holding up others for long. Rejects with the signal's reason when that is aborted. */
export const timeSliced = async <T>(work: Stepwise<T>, signal?: AbortSignal): Promise<T> => {
  if (working > 0) await ownTurn();
  working += 1;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const until = performance.now() + TURN_MS;
      do {
        const step = work.next();
        if (step.done === true) return step.value;
      } while (performance.now() < until);
      await ownTurn();
    }
  } finally {
    working -= 1;
  }
};

const ownTurn = (): Promise<void> => (turns = turns.then(() => nextTurn()));

/** Does the work in one go: for what is known to be short. */
export const atOnce = <T>(work: Stepwise<T>): T => {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
};
