/** What may stand in the way of a start, or of work on the stores, that a person can act on: by name, since these come from several libraries and threads. */
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
  'Unavailable',
  'UnfitRuntime',
  'UnusableFolder',
  'UnusableKey',
  'WrongVaultKey',
]);

/** The sentence in an error, with its full stop; undefined for what nobody foresaw, which needs its stack. */
export const sentenceIn = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'SqliteError') return `A file of the stores is damaged or cannot be used: ${error.message}.`;
  if (error.name === 'MongoParseError')
    return `MONGODB_URL is no connection string that can be read: ${error.message}. It has the form mongodb://user:password@host:27017/database.`;
  const isOfSystem = 'syscall' in error || String((error as NodeJS.ErrnoException).code).startsWith('Z_');
  return SENTENCES.has(error.name) || isOfSystem ? error.message.replace(/[^.]$/, '$&.') : undefined;
};
