export * from './key-files';
export * from './vault';
export { openSqliteVault, type SqliteVaultOptions } from './sqlite/sqlite-vault';
