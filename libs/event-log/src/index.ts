export { checkAppend } from './append-check';
export { follow } from './catch-up-subscription';
export {
  EVENT_LOG,
  type EventLog,
  type ImportMark,
  type LogReader,
  type EventFilter,
  type ReadAllOptions,
  type OurEvents,
  type ForeignEvent,
  type LogPage,
  type SubscribeOptions,
  type Subscription,
  type LogHealth,
  LogCorrupted,
  LogUnfinished,
  inLogOrder,
  isForeignEvent,
  lastBefore,
} from './event-log';
export { type EventPlace, lastPlace, placeOf, holdsPlace } from './event-place';
export { EventLogModule } from './event-log.module';
export { openLog } from './open-log';
export {
  openLogReader,
  EVENT_MAC,
  type MacCheck,
  type EventMac,
  eventMacOf,
  stampAppends,
  withoutMac,
} from './threads';
export { openEventStoreLog, openEventStoreLogReader } from './eventstoredb/open';
export { IMPORTED_FILE, RESTORED_FILE } from './sqlite/log-files';
export { lockLogFolder, LogInUse } from './sqlite/folder-lock';
export { openSqliteEventLog, openSqliteLogReader } from './sqlite/open';
