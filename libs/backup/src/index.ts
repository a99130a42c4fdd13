export * from './backup';
export { BackupError, type Manifest } from './manifest';
export * from './restore';
