import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockLogFolder, RESTORED_FILE } from '@app/event-log';
import { reasonOf, sentenceIn, syncToDisk } from '@app/kernel';
import { restoreKeys } from '@app/vault';
import Database from 'better-sqlite3';
import { copyBlobs } from './blob-files';
import { copyDatabase } from './copy-database';
import { endOf } from './end-of-log';
import { BackupError, type Manifest, readManifest } from './manifest';

export interface RestoreOptions {
  readonly folder: string;
  /** The data keys that were backed up apart. */
  readonly keysFile: string;
  /** The text of `VAULT_KEY` that they are wrapped under. */
  readonly vaultKey: string;
  /** Empty but for `keys/` and `vault/`: the erasures that the vault there knows of are applied to what is restored. */
  readonly dataFolder: string;
  readonly onProgress?: (step: 'log' | 'blobs', progress: { readonly done: number; readonly total: number }) => void;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Aggregates whose content was erased after the backup, and stays so. */
  readonly erased: number;
}

/**
 * Restores a backup into an empty `DATA_DIR`. Throws before it writes anything: `LogInUse` while a server runs there,
 * `BackupError` if it is not empty, and a sentence for a wrong `VAULT_KEY`. Names the log last: without it nothing
 * starts on half a restore, which can be repeated.
 */
export const restore = async ({
  folder,
  keysFile,
  vaultKey,
  dataFolder,
  onProgress = () => undefined,
}: RestoreOptions): Promise<Restored> => {
  const manifest = await readManifest(folder);
  await mustBeWhole(folder, manifest);
  if (!existsSync(keysFile)) throw new BackupError(`${keysFile} does not exist`);
  const logFolder = join(dataFolder, 'log');
  const lock = lockLogFolder(logFolder);
  try {
    await mustBeEmpty(dataFolder);
    const unfinished = join(logFolder, RESTORED_FILE);
    for (const suffix of ['-journal', '-wal', '-shm']) await rm(unfinished + suffix, { force: true });
    await writeFile(unfinished, '', { mode: 0o600 });
    await syncToDisk(logFolder);
    const vaultFolder = join(dataFolder, 'vault');
    const hadVault = existsSync(vaultFolder);
    const { erased } = await restoreKeys({ folder: vaultFolder, keysFile, wrappingKey: vaultKey }).catch(
      async (error: unknown) => {
        if (!hadVault && !existsSync(vaultFolder)) await rm(unfinished);
        throw error;
      },
    );
    await mkdir(join(dataFolder, 'blobs'), { recursive: true, mode: 0o700 });
    await copyBlobs(join(folder, 'blobs'), join(dataFolder, 'blobs'), (done) =>
      onProgress('blobs', { done, total: manifest.blobs }),
    );
    await copyDatabase(join(folder, 'log', 'events.sqlite'), unfinished, (done, total) =>
      onProgress('log', { done, total }),
    );
    await rename(unfinished, join(logFolder, 'events.sqlite'));
    await syncToDisk(logFolder);
    return { manifest, erased };
  } finally {
    lock.release();
  }
};

/** A file that was cut off may still be a database: an empty one is. */
const mustBeWhole = async (folder: string, { head, lastSeal }: Manifest): Promise<void> => {
  const log = join(folder, 'log');
  const end = await endOf(log).catch((error: unknown) => {
    throw new BackupError(
      `${folder} cannot be restored: its log cannot be read: ${sentenceIn(error) ?? reasonOf(error)}`,
      { cause: error },
    );
  });
  if (isCutOff(join(log, 'events.sqlite')))
    throw new BackupError(`${folder} cannot be restored: its log cannot be read: it was cut off`);
  if (end.head !== head || end.lastSeal !== lastSeal)
    throw new BackupError(
      `${folder} cannot be restored: its log ends elsewhere than ${join(folder, 'manifest.json')} says, so it is of another backup or was changed`,
    );
};

/** SQLite reads a last page that is there in part, and takes zeros for the rest. */
const isCutOff = (file: string): boolean => {
  const database = new Database(file, { readonly: true });
  try {
    const [pages, bytes] = ['page_count', 'page_size'].map((name) => Number(database.pragma(name, { simple: true })));
    return statSync(file).size < (pages ?? 0) * (bytes ?? 0);
  } finally {
    database.close();
  }
};

/**
 * Rejects what would mix with the restored log: a write-ahead log or a head mark of another one above all. A restore that
 * was interrupted has left blobs, keys and an unfinished log: nothing that stands in the way.
 */
const mustBeEmpty = async (dataFolder: string): Promise<void> => {
  for (const name of ['log', 'views', 'search']) {
    const [found] = (await filesIn(join(dataFolder, name))).filter(
      (file) => name !== 'log' || !(file === 'lock' || file.startsWith(RESTORED_FILE)),
    );
    if (found !== undefined)
      throw new BackupError(`${dataFolder} is not empty: it holds ${name}/${found}; restore into an empty folder`);
  }
};

const filesIn = async (folder: string): Promise<readonly string[]> =>
  existsSync(folder) ? (await readdir(folder)).toSorted() : [];
