export * from './key-files';
export { checkRecordsUnder } from './key-wrapping';
export * from './vault';
export { openSqliteVault, type SqliteVaultOptions } from './sqlite/sqlite-vault';
export { rotateVaultKey, type RotateVaultKeyOptions } from './sqlite/rotate-key';
export { checkKeysCopy, type KeysCopy, noteKeysDigest } from './sqlite/keys-copy';
export { restoreKeys, type RestoreKeysOptions } from './sqlite/restore-keys';
export { type MongoVaultOptions, openMongoVault } from './mongo/mongo-vault';
export { VaultModule, openVault } from './vault.module';
