export * from './key-files';
export * from './vault';
export { openSqliteVault, type SqliteVaultOptions } from './sqlite/sqlite-vault';
export { restoreKeys, type RestoreKeysOptions } from './sqlite/restore-keys';
