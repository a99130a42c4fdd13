import { type NewEvent, type ExpectedRevision, Unavailable, WrongExpectedRevision } from '@app/kernel';
import type { Answer, TestPlatform } from './harness';

/**
 * How an append fails. `away`: the log is gone from it on. `lost`: it happens, and its answer does not come. `raced`: others are faster,
 * a few times.
 */
export type Fault = 'away' | 'lost' | 'raced';

const RACES = 5;
let requests = 0;

/** Sends a request of which the n-th append, from 1, fails; without `fault` none does. Answers also how many appends it made: those that lost a race are none. */
export const sendBroken = async (
  platform: TestPlatform,
  send: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
  n = 0,
  fault?: Fault,
): Promise<{ readonly answer: Answer; readonly appends: number }> => {
  const requestId = `broken-${(requests += 1)}`;
  const { log } = platform.platform.host.stores;
  const append = log.append.bind(log);
  let [tried, appends] = [0, 0];
  let left = RACES;
  const broken = jest
    .spyOn(log, 'append')
    .mockImplementation(async (stream: string, events: readonly NewEvent[], expected: ExpectedRevision) => {
      // What policies do meanwhile is theirs.
      if (!events.some(({ metadata }) => metadata.includes(`"requestId":"${requestId}"`)))
        return append(stream, events, expected);
      tried += 1;
      if (fault === 'away' && tried >= n) throw new Unavailable('log', 'it went away');
      if (fault === 'raced' && tried >= n && left-- > 0) throw new WrongExpectedRevision(stream, expected, -1);
      const result = await append(stream, events, expected);
      appends += 1;
      if (fault === 'lost' && tried === n) throw new Unavailable('log', 'its answer was lost', 'unknown');
      return result;
    });
  try {
    return { answer: await send({ 'x-request-id': requestId }), appends };
  } finally {
    broken.mockRestore();
  }
};
