export { backup } from './backup';
export { type CarriedBlobs, carryBlobs } from './carry-blobs';
export { BackupChanged, type BackupCheck, checkBackup } from './check';
export { exportKeys, importKeys, checkKeys } from './keys-file';
export { LOG_PATH } from './listing';
export { type Restored, restore } from './restore';
