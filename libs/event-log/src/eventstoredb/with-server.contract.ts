import { EventStoreDBClient } from '@eventstore/db-client';
import { onBudget, WaitBudget } from '@app/kernel';
import {
  type DoubleOptions,
  type EventStoreDouble,
  startEventStoreDouble,
} from '../../../../test/servers/eventstoredb/double';
import { type EventLog, openEventStoreLog } from '..';

/** A test's body with a server and a log that nobody else has. */
export const withServer =
  (body: (log: EventLog, server: EventStoreDouble) => Promise<void>, options: DoubleOptions = {}) =>
  async (): Promise<void> => {
    const server = await startEventStoreDouble(options);
    const log = await openEventStoreLog({ url: server.url });
    try {
      await body(log, server);
    } finally {
      await log.close();
      await server.stop();
    }
  };

/** Work of a request that may wait for the log for so many milliseconds in all. */
export const waitingFor = <T>(milliseconds: number, work: () => T): T =>
  onBudget(new WaitBudget(undefined, milliseconds), work);

/** Work with the bare client, as another program does it. */
export const withClient = async <T>(url: string, work: (client: EventStoreDBClient) => Promise<T>): Promise<T> => {
  const client = EventStoreDBClient.connectionString(url);
  try {
    return await work(client);
  } finally {
    await client.dispose();
  }
};

/** What the server itself holds, system events too. */
export const asServerSeesIt = (
  url: string,
): Promise<{ readonly stream: string; readonly type: string; readonly isJson: boolean }[]> =>
  withClient(url, async (client) => {
    const events: { stream: string; type: string; isJson: boolean }[] = [];
    for await (const { event } of client.readAll())
      if (event !== undefined) events.push({ stream: event.streamId, type: event.type, isJson: event.isJson });
    return events;
  });
