export { loadOrMakeKey, findKey, WrongVaultKey } from './key-files';
export { checkRecordsUnder } from './key-wrapping';
export { VAULT, VAULT_KEY, type KeyRecord, type Vault } from './vault';
export { openSqliteVault } from './sqlite/sqlite-vault';
export { rotateVaultKey } from './sqlite/rotate-key';
export { checkKeysCopy, noteKeysDigest } from './sqlite/keys-copy';
export { restoreKeys } from './sqlite/restore-keys';
export { openMongoVault } from './mongo/mongo-vault';
export { VaultModule, openVault } from './vault.module';
