export * from './read-store';
export { Claims } from './claims';
export * from './find-page';
export * from './matching-page';
export * from './newest-of';
export { openSqliteReadStore, type SqliteReadStoreOptions } from './sqlite/sqlite-read-store';
export { VersionedFiles } from './sqlite/versioned-files';
