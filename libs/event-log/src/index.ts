export * from './append-check';
export * from './catch-up-subscription';
export * from './event-log';
export { EventLogModule } from './event-log.module';
export { openLog } from './open-log';
export * from './threads';
export { type EventStoreOptions, openEventStoreLog, openEventStoreLogReader } from './eventstoredb/open';
export { isLogInUse, lockLogFolder, LogInUse, type FolderLock } from './sqlite/folder-lock';
export { openSqliteEventLog, openSqliteLogReader } from './sqlite/open';
