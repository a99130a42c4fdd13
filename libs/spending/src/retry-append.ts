import {
  type AppendResult,
  retryUntilAnswered,
  isWrongExpectedRevision,
  type NewEvent,
  type StreamLog,
} from '@app/kernel';

/**
 * Appends behind a revision (-1 for a stream without events), and asks again with the same events for as long as the log is
 * away: what may have been written must not be decided anew. Undefined when others were faster.
 */
export const retryAppend = async (
  log: Pick<StreamLog, 'append'>,
  stream: string,
  events: readonly NewEvent[],
  revision: number,
): Promise<AppendResult | undefined> => {
  try {
    return await retryUntilAnswered(() => log.append(stream, events, revision < 0 ? 'noStream' : revision));
  } catch (error) {
    if (isWrongExpectedRevision(error)) return undefined;
    throw error;
  }
};
