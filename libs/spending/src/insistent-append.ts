import { type AppendResult, isUnavailable, isWrongExpectedRevision, type NewEvent, type StreamLog } from '@app/kernel';

const FIRST_WAIT_MS = 10;
const LONGEST_WAIT_MS = 1_000;

/** Does something again and again for as long as the log is away. */
export const insistently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait).unref());
    }
  }
};

/**
 * Appends behind a revision (-1 for a stream without events), and asks again with the same events for as long as the log is
 * away: what may have been written must not be decided anew. Undefined when others were faster.
 */
export const appendInsistently = async (log: Pick<StreamLog, 'append'>, stream: string, events: readonly NewEvent[], revision: number): Promise<AppendResult | undefined> => {
  try {
    return await insistently(() => log.append(stream, events, revision < 0 ? 'noStream' : revision));
  } catch (error) {
    if (isWrongExpectedRevision(error)) return undefined;
    throw error;
  }
};
