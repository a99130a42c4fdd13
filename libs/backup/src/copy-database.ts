import { stat } from 'node:fs/promises';
import { startThread, syncToDisk } from '@app/kernel';
import { BackupError } from './manifest';

const POLL_MS = 200;

const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB)/.test(String((error as { readonly code?: unknown }).code));

/** Copies a SQLite database that may be in use: consistent, compact, on the disk. `onBytes` hears how much of how much is copied. */
export const copyDatabase = async (
  from: string,
  to: string,
  onBytes: (done: number, total: number) => void = () => undefined,
): Promise<void> => {
  const worker = startThread(__dirname, 'copy-database.thread', __filename, { workerData: { from, to } });
  let total = 0;
  worker.on('message', ({ bytes }: { bytes: number }) => (total = bytes));
  const poll = setInterval(
    () =>
      void stat(to).then(
        ({ size }) => onBytes(Math.min(size, total), total),
        () => undefined,
      ),
    POLL_MS,
  );
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('error', (error) =>
        reject(
          new BackupError(
            `${from} cannot be copied${isDamage(error) ? ', it is damaged' : ''}: ${(error as Partial<Error>).message ?? 'its thread ended'}`,
            { cause: error },
          ),
        ),
      );
      worker.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`${from} was not copied: its thread ended with ${code}`)),
      );
    });
  } finally {
    clearInterval(poll);
  }
  await syncToDisk(to);
  onBytes(total, total);
};
