import { join } from 'node:path';
import type { Config } from '@app/kernel';
import type { EventLog, LogReader } from './event-log';
import { type EventStoreOptions, openEventStoreLog, openEventStoreLogReader } from './eventstoredb/open';
import { openSqliteEventLog, openSqliteLogReader } from './sqlite/open';

type Where = Pick<Config, 'EVENTSTORE_URL' | 'DATA_DIR'>;
/** Distinguishes our events from foreign ones on a server; only we write the embedded log. */
type Ours = EventStoreOptions['ours'];

/** Opens the log: on the server that `EVENTSTORE_URL` names, else under `DATA_DIR`, which then is this process's alone. With `imports` for an import that may have been broken off. */
export const openLog = (config: Where, ours: Ours, options: { readonly imports?: boolean } = {}): Promise<EventLog> =>
  config.EVENTSTORE_URL === undefined
    ? openSqliteEventLog({ folder: folderOf(config), ...options })
    : openEventStoreLog(onServer(config.EVENTSTORE_URL, ours));

/** Opens the log for reading only, even beside the process that writes it. With `evenIfUnsound`, also a damaged one. */
export const openLogReader = (
  config: Where,
  ours: Ours,
  options: { readonly evenIfUnsound?: boolean } = {},
): Promise<LogReader> =>
  config.EVENTSTORE_URL === undefined
    ? openSqliteLogReader({ folder: folderOf(config), ...options })
    : openEventStoreLogReader(onServer(config.EVENTSTORE_URL, ours));

const onServer = (url: string, ours: Ours): EventStoreOptions => ({ url, ...(ours === undefined ? {} : { ours }) });

const folderOf = ({ DATA_DIR }: Where): string => join(DATA_DIR, 'log');
