export * from './backup';
export * from './carry-blobs';
export { BackupChanged, type BackupCheck, checkBackup } from './check';
export * from './keys-file';
export { LOG_PATH } from './listing';
export { BackupError, type Manifest } from './manifest';
export * from './restore';
