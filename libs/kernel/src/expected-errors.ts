import type { UnreadableEvent } from './event-codec';

/** Errors of a start, or of work on the stores, that a person can act on. By name, since they come from several libraries and threads. */
const SENTENCES: ReadonlySet<string> = new Set([
  'BackupChanged',
  'BackupError',
  'ExportDamaged',
  'ForeignExport',
  'InvalidCatalogue',
  'InvalidConfig',
  'LogCorrupted',
  'LogDiffers',
  'LogInUse',
  'LogUnfinished',
  'MissingKey',
  'MissingStore',
  'NoReplicaSet',
  'Unavailable',
  'UnfitRuntime',
  'UnusableFolder',
  'UnusableKey',
  'UnusableKeys',
  'WrongVaultKey',
]);

/** The message of an expected error, with a full stop. Undefined for an unexpected one, which needs its stack. */
export const sentenceIn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'SqliteError') return sqliteSentence(error);
  if (error.name === 'UnreadableEvent') return unreadableSentence(error as UnreadableEvent);
  if (error.name === 'MongoParseError')
    return `MONGODB_URL is not a valid connection string: ${error.message}. Use mongodb://user:password@host:27017/database.`;
  const isOfSystem = 'syscall' in error || String((error as NodeJS.ErrnoException).code).startsWith('Z_');
  return SENTENCES.has(error.name) || isOfSystem ? error.message.replace(/[^.]$/, '$&.') : undefined;
};

const unreadableSentence = ({ isNewer, message }: UnreadableEvent): string =>
  isNewer
    ? `The log has an event of a later version of the platform, ${message}. Start that version, or a later one.`
    : `The log has an event that cannot be read, ${message}. Verify the log: if it is damaged there, restore a backup.`;

const sqliteSentence = (error: Error): string => {
  const code = String((error as Error & { readonly code?: unknown }).code);
  // SQLite writes beside a file also where it is only read.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE')
    return `The disk is full, or cannot be written: ${error.message}.`;
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY'))
    return `A store file cannot be opened: ${error.message}. Its folder must be writable, also to read it. If the disk is read-only, copy the stores elsewhere first.`;
  return `A store file is damaged or cannot be used: ${error.message}.`;
};
