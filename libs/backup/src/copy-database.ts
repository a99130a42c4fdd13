import { startThread, syncToDisk } from '@app/kernel';
import { BackupError } from './manifest';
import { watchSize } from './watched-size';

const POLL_MS = 200;

/** What is wrong with a copy, at the end that it is wrong at: nothing is written but the copy. */
export const copyError = (from: string, to: string, error: unknown): BackupError =>
  new BackupError(sentenceOf(from, to, error), { cause: error });

const sentenceOf = (from: string, to: string, error: unknown): string => {
  const { code, message = 'its thread ended' } = error as { readonly code?: unknown; readonly message?: string };
  if (/^SQLITE_(FULL|IOERR_(WRITE|FSYNC|DIR_FSYNC|TRUNCATE))/.test(String(code)))
    return `${to} cannot be written: ${message}`;
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(String(code))) return `${from} cannot be copied, it is damaged: ${message}`;
  return `${from} cannot be copied to ${to}: ${message}`;
};

/** Copies a SQLite database that may be in use: consistent, compact, on the disk. `onBytes` hears how much of how much is copied. */
export const copyDatabase = async (
  from: string,
  to: string,
  onBytes: (done: number, total: number) => void = () => undefined,
): Promise<void> => {
  const worker = startThread(__dirname, 'copy-database.thread', __filename, { workerData: { from, to } });
  let total = 0;
  worker.on('message', ({ bytes }: { bytes: number }) => (total = bytes));
  const stop = watchSize(to, POLL_MS, (bytes) => onBytes(Math.min(bytes, total), total));
  const copied = new Promise<void>((resolve, reject) => {
    worker.on('error', (error) => reject(copyError(from, to, error)));
    worker.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${from} was not copied: its thread ended with ${code}`)),
    );
  });
  await copied.finally(stop);
  await syncToDisk(to);
  onBytes(total, total);
};
