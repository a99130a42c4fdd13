/** Errors of a start, or of work on the stores, that a person can act on. By name, since they come from several libraries and threads. */
const SENTENCES: ReadonlySet<string> = new Set([
  'BackupError',
  'ExportDamaged',
  'ForeignExport',
  'InvalidCatalogue',
  'InvalidConfig',
  'LogCorrupted',
  'LogDiffers',
  'LogInUse',
  'MissingKey',
  'MissingStore',
  'NoReplicaSet',
  'Unavailable',
  'UnfitRuntime',
  'UnusableFolder',
  'UnusableKey',
  'WrongVaultKey',
]);

/** The message of an expected error, with a full stop. Undefined for an unexpected one, which needs its stack. */
export const sentenceIn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'SqliteError') return `A store file is damaged or cannot be used: ${error.message}.`;
  if (error.name === 'MongoParseError')
    return `MONGODB_URL is not a valid connection string: ${error.message}. Use mongodb://user:password@host:27017/database.`;
  const isOfSystem = 'syscall' in error || String((error as NodeJS.ErrnoException).code).startsWith('Z_');
  return SENTENCES.has(error.name) || isOfSystem ? error.message.replace(/[^.]$/, '$&.') : undefined;
};
