export * from './search-index';
export { openSqliteSearchIndex, type SqliteSearchIndexOptions } from './sqlite/sqlite-search-index';
