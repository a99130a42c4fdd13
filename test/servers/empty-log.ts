import { openEventStoreLogReader } from '@app/event-log';
import { startEventStoreDouble } from './eventstoredb/double';

export interface EmptyLog {
  readonly url: string;
  stop(): Promise<void>;
}

const given = process.env['EMPTY_EVENTSTORE_URL'] ?? '';

export const isEmptyLogGiven = given !== '';
/** What `openEmptyLog` opens. */
export const emptyLogName = isEmptyLogGiven ? 'the server of EMPTY_EVENTSTORE_URL' : 'the double of EventStoreDB';

/** A log that holds nothing yet: that of `EMPTY_EVENTSTORE_URL`, else a double's. Throws where somebody has used it: what a run leaves there would be taken for its own by the next. */
export const openEmptyLog = async (url = given): Promise<EmptyLog> => {
  if (url === '') return startEventStoreDouble();
  const reader = await openEventStoreLogReader({ url });
  const head = await reader.head();
  await reader.close();
  if (head !== null)
    throw new Error(
      'EMPTY_EVENTSTORE_URL names a server that holds events already. Name one that nobody has used: the tests fill it, and never empty it.',
    );
  return { url, stop: async () => undefined };
};
