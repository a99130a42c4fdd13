export * from './backup';
export * from './carry-blobs';
export * from './keys-file';
export { BackupError, type Manifest } from './manifest';
export * from './restore';
