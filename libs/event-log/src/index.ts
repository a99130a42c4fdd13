export * from './append-check';
export * from './catch-up-subscription';
export * from './event-log';
export * from './event-matcher';
export { type EventStoreOptions, openEventStoreLog, openEventStoreLogReader } from './eventstoredb/open';
export { isLogInUse, lockLogFolder, LogInUse, type FolderLock } from './sqlite/folder-lock';
export * from './foreign-events';
export * from './last-before';
export { openSqliteEventLog, openSqliteLogReader } from './sqlite/open';
