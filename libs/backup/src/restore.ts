import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockLogFolder, RESTORED_FILE } from '@app/event-log';
import { syncToDisk } from '@app/kernel';
import { restoreKeys } from '@app/vault';
import { copyBlobs, sameBytes } from './blob-files';
import { BackupChanged, type BackupCheck, checkBackup, mustBeWhole } from './check';
import { copyDatabase } from './copy-database';
import { BackupError } from './manifest';

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** What is restored, and where to. */
export interface RestoreOptions {
  readonly folder: string;
  /** The data keys that were backed up apart. */
  readonly keysFile: string;
  /** The text of `VAULT_KEY` that they are wrapped under. */
  readonly vaultKey: string;
  /** Empty but for `keys/` and `vault/`: the erasures that the vault there knows of are applied to what is restored. */
  readonly dataFolder: string;
  /** Restores what there is although files of the backup were changed. */
  readonly force?: boolean;
  readonly onProgress?: (step: 'check' | 'log' | 'blobs', progress: Progress) => void;
}

/** What came of a restore. */
export interface Restored {
  /** What the backup was found to be; nothing is wrong with it unless `force` was given. */
  readonly check: BackupCheck;
  /** Aggregates whose content was erased after the backup, and stays so. */
  readonly erased: number;
}

/**
 * Restores a backup into an empty `DATA_DIR`. Throws before it writes anything: `LogInUse` while a server runs there,
 * `BackupError` if it is not empty, `BackupChanged` unless every file is as it was backed up, and a sentence for a wrong
 * `VAULT_KEY`. Names the log last: without it nothing starts on half a restore, which can be repeated. The next start deletes again
 * what was erased since the backup (`ReapplyErasures` in `libs/erasure`).
 */
export const restore = async ({
  folder,
  keysFile,
  vaultKey,
  dataFolder,
  force = false,
  onProgress = () => undefined,
}: RestoreOptions): Promise<Restored> => {
  const logFolder = join(dataFolder, 'log');
  const lock = lockLogFolder(logFolder);
  try {
    await mustBeEmpty(dataFolder);
    const onBytes = (progress: Progress): void => onProgress('check', progress);
    const check = await checkBackup({ folder, keysFile, vaultKey, onBytes });
    if (check.findingsInAll > 0 && !force) throw new BackupChanged(folder, check);
    if (force) await mustBeWhole(folder, check.manifest);
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
    const unreadable = new Set(check.findings.filter(({ kind }) => kind === 'unreadable').map(({ path }) => path));
    await copyBlobs(join(folder, 'blobs'), join(dataFolder, 'blobs'), {
      onCopied: (done) => onProgress('blobs', { done, total: check.manifest.blobs }),
      // What lies there may be of a disk that failed, or of a restore that was cut off.
      mayKeep: sameBytes,
      leaveOut: (path) => unreadable.has(`blobs/${path}`),
    });
    await copyDatabase(join(folder, 'log', 'events.sqlite'), unfinished, (done, total) =>
      onProgress('log', { done, total }),
    );
    await rename(unfinished, join(logFolder, 'events.sqlite'));
    await syncToDisk(logFolder);
    return { check, erased };
  } finally {
    lock.release();
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
