import {
  type AppendResult,
  retryUntilAnswered,
  isWrongExpectedRevision,
  type NewEvent,
  type StreamLog,
} from '@app/kernel';

/**
 * Appends after a revision (-1 for a stream without events), and retries with the same events while the log is away:
 * an append that may have happened must not be decided again. Undefined if others were faster.
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
