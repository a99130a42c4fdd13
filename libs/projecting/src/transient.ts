import { isUnavailable } from '@app/kernel';

const NAMES: ReadonlySet<string> = new Set(['Fenced', 'CheckpointMismatch', 'LogCorrupted']);

export const isFenced = (error: unknown): boolean => error instanceof Error && error.name === 'Fenced';

export const isCheckpointMismatch = (error: unknown): boolean =>
  error instanceof Error && error.name === 'CheckpointMismatch';

/** True for a failure that is not the event's fault: the store is away or busy, or another writer was here. */
export const isTransient = (error: unknown): boolean =>
  isUnavailable(error) ||
  (error instanceof Error &&
    (NAMES.has(error.name) ||
      /^(SQLITE_BUSY|SQLITE_LOCKED|SQLITE_FULL|SQLITE_IOERR)/.test(String((error as { code?: unknown }).code))));
