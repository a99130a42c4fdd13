export * from './read-store';
export * from './find-page';
export { openSqliteReadStore, type SqliteReadStoreOptions } from './sqlite/sqlite-read-store';
export { VersionedFiles } from './sqlite/versioned-files';
