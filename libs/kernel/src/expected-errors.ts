import type { UnreadableEvent } from './event-codec';

/**
 * Errors of a start or of work on the stores that an operator can solve. By name, because they come from several
 * libraries and threads.
 */
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

/**
 * The message of an expected error, with a full stop and, if its disk is not writable, what to do. Undefined for an
 * unexpected error, which needs its stack.
 */
export const sentenceIn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  const sentence = plainSentence(error);
  const advice = sentence === undefined || error.name === 'UnusableFolder' ? undefined : diskAdvice(error);
  return advice === undefined ? sentence : `${sentence} ${advice}`;
};

/**
 * What to do about a disk that cannot be written; undefined for other errors. Wrapped errors have the code in their
 * cause.
 */
const diskAdvice = (error: Error): string | undefined => {
  const code = String((error as { readonly code?: unknown }).code);
  if (/^(?:ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code))
    return 'The disk is full: make room, or name another place, and try again.';
  if (code === 'EROFS') return 'The disk is read-only: name another place, and try again.';
  return error.cause instanceof Error ? diskAdvice(error.cause) : undefined;
};

const plainSentence = (error: Error): string | undefined => {
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
  if (code === 'SQLITE_FULL') return `A store file cannot be written: ${error.message}.`;
  if (code === 'SQLITE_IOERR_SHMSIZE') return `The disk is full, or cannot be written: ${error.message}.`;
  if (code.startsWith('SQLITE_CANTOPEN') || code.startsWith('SQLITE_READONLY'))
    return `A store file cannot be opened: ${error.message}. Its folder must be writable, also to read it. If the disk is read-only, copy the stores elsewhere first.`;
  return `A store file is damaged or cannot be used: ${error.message}.`;
};
