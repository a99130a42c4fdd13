export * from './read-store';
export * from './find-page';
export * from './newest-of';
export { openSqliteReadStore, type SqliteReadStoreOptions } from './sqlite/sqlite-read-store';
export { VersionedFiles } from './sqlite/versioned-files';
