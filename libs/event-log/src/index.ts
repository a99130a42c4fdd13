export * from './append-check';
export * from './catch-up-subscription';
export * from './event-log';
export { EventLogModule, openLog, openLogReader } from './event-log.module';
export * from './event-mac';
export { type EventStoreOptions, openEventStoreLog, openEventStoreLogReader } from './eventstoredb/open';
export { isLogInUse, lockLogFolder, LogInUse, type FolderLock } from './sqlite/folder-lock';
export { openSqliteEventLog, openSqliteLogReader } from './sqlite/open';
