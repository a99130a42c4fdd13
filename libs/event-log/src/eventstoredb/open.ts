import type { EventLog, LogReader, OurEvents } from '../event-log';

export interface EventStoreOptions {
  /** Connection string as the client takes it, with user and certificate where the server asks for them. Begins with `esdb` or `kurrentdb`. */
  readonly url: string;
  /** Tells our events from foreign ones, which are not shown. Without it all events are ours. */
  readonly ours?: OurEvents;
}

/**
 * Opens the log on a server, once a process. The server may come later: until then calls throw `Unavailable`. Throws
 * if the connection string, or a certificate that it names, cannot be read.
 */
export const openEventStoreLog = async ({ url, ours }: EventStoreOptions): Promise<EventLog> => {
  const { Connection, Removals, EventStoreLog } = adapter();
  const connection = new Connection(url, ours);
  return new EventStoreLog(connection, new Removals(connection));
};

/** Opens the log for reading alone, in any thread or process. It sees what is committed at the time of each read. */
export const openEventStoreLogReader = async ({ url, ours }: EventStoreOptions): Promise<LogReader> => {
  const { Connection, Removals, EventStoreLogReader } = adapter();
  const connection = new Connection(url, ours);
  return new EventStoreLogReader(connection, new Removals(connection));
};

/** Load the client only if a server is used: it costs memory. */
const adapter = () => require('./adapter') as typeof import('./adapter');
