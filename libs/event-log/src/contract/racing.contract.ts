import { type ExpectedRevision, isUnavailable, isWrongExpectedRevision, type NewEvent } from '@app/kernel';
import { seededNumbers } from '../../../../test/faults/log/rounds';
import type { EventLog } from '../event-log';
import { newEvents, type GetLog, withLog } from './log-under-test.contract';

/** How many races there are, as the title says it. A thousand where a log is tested, a hundred in `npm test`. */
const RACES = { 100: 'a hundred', 1000: 'a thousand' };
export type Races = keyof typeof RACES;
/** Streams that are raced for at once, and how long each becomes at most. */
const STREAMS = 10;
const LONGEST = 25;
const FEWEST_WRITERS = 2;
const MOST_WRITERS = 16;
const MOST_EVENTS = 3;

/** What became of one writer: where its events stand, or what it found when it had lost. */
type Raced =
  | { readonly won: NewEvent; readonly revision: number }
  | { readonly found: string | undefined; readonly actual: number };

const raced = async (
  log: EventLog,
  stream: string,
  events: readonly NewEvent[],
  expected: ExpectedRevision,
): Promise<Raced> => {
  try {
    const { revision } = await answered(() => log.append(stream, events, expected));
    return { won: events.at(-1) as NewEvent, revision };
  } catch (error) {
    if (!isWrongExpectedRevision(error)) throw error;
    const { actual } = error;
    return { found: (await answered(() => log.readStream(stream, { from: actual, limit: 1 })))[0]?.id, actual };
  }
};

/** Asks again as callers do who were not answered in time: many writers on a machine that is busy with other things are too much for it now and then. */
const answered = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
};

export const racingContract = (shared: GetLog, races: Races): void => {
  const length = Math.min(LONGEST, races / STREAMS);
  it(
    `has one winner in each of ${RACES[races]} races of 2 to 16 writers, and who lost finds what won`,
    withLog(shared, async (log, category, { beside = log }) => {
      const number = seededNumbers();
      let rounds = 0;
      /** Races for each revision of a stream in turn, the first one at `noStream`. */
      const race = async (stream: string): Promise<void> => {
        let last = -1;
        for (let turn = 0; turn < length; turn += 1) {
          const expected = last < 0 ? 'noStream' : last;
          const writers = FEWEST_WRITERS + number(MOST_WRITERS - FEWEST_WRITERS + 1);
          const outcomes = await Promise.all(
            Array.from({ length: writers }, (_, writer) =>
              raced(writer % 2 === 0 ? log : beside, stream, newEvents(1 + number(MOST_EVENTS)), expected),
            ),
          );
          const won = outcomes.flatMap((outcome) => ('won' in outcome ? [outcome] : []));
          expect(won).toHaveLength(1);
          const [
            {
              won: { id },
              revision,
            },
          ] = won as [{ won: NewEvent; revision: number }];
          expect(outcomes.filter((outcome) => !('won' in outcome))).toEqual(
            Array.from({ length: writers - 1 }, () => ({ found: id, actual: revision })),
          );
          last = revision;
          rounds += 1;
        }
        expect(await answered(() => log.readStream(stream))).toHaveLength(last + 1);
      };
      for (let first = 0; rounds < races; first += STREAMS)
        await Promise.all(Array.from({ length: STREAMS }, (_, index) => race(`${category}-${first + index}`)));
      expect(rounds).toBe(races);
    }),
    300_000,
  );
};
