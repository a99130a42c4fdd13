import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { openSqliteLogReader } from '@app/event-log';
import { type Clock, makeFolder, syncToDisk } from '@app/kernel';
import { headOf, knownSealText, SEAL_STREAM, sealHash, sealOf } from '@app/sealing';
import { copyBlobs, sizeOfBlobs } from './blob-files';
import { copyDatabase } from './copy-database';
import { BackupError, type Manifest, UNFINISHED_MANIFEST, writeManifest } from './manifest';

export type BackupStep = 'log' | 'blobs' | 'keys';

export interface BackupOptions {
  /** `DATA_DIR` of the instance, which may be running. */
  readonly dataFolder: string;
  /** Where the backup goes; must not exist or be empty. */
  readonly folder: string;
  /** Where the data keys go, wrapped under `VAULT_KEY`; without it they are not backed up, and the backup cannot be read. */
  readonly keysFile?: string | undefined;
  readonly clock: Clock;
  readonly onProgress?: (step: BackupStep, progress: { readonly done: number; readonly total: number }) => void;
}

/**
 * Backs up the log and the blobs of an instance while it runs, and its data keys into a file apart. Views and search are
 * not in it: they are rebuilt from the log. What was made is removed where it fails, so that it can be repeated. Throws
 * `BackupError`.
 */
export const backup = async ({
  dataFolder,
  folder,
  keysFile,
  clock,
  onProgress = () => undefined,
}: BackupOptions): Promise<Manifest> => {
  await mustBeFree(folder, keysFile);
  if (!existsSync(join(dataFolder, 'log', 'events.sqlite'))) throw new BackupError(`${dataFolder} holds no log`);
  const isNew = !existsSync(folder);
  try {
    return await copyAll({ dataFolder, folder, keysFile, clock, onProgress });
  } catch (error) {
    for (const part of isNew ? [''] : PARTS) await rm(join(folder, part), { recursive: true, force: true });
    if (keysFile !== undefined) for (const made of [keysFile, unfinishedOf(keysFile)]) await rm(made, { force: true });
    throw error;
  }
};

const PARTS = ['log', 'blobs', UNFINISHED_MANIFEST];

const copyAll = async ({
  dataFolder,
  folder,
  keysFile,
  clock,
  onProgress,
}: BackupOptions & Required<Pick<BackupOptions, 'onProgress'>>): Promise<Manifest> => {
  for (const part of ['log', 'blobs']) makeFolder(resolve(folder, part));
  const source = join(dataFolder, 'blobs');
  const { count } = await sizeOfBlobs(source);
  const copy = () =>
    copyBlobs(source, join(folder, 'blobs'), (done) => onProgress('blobs', { done, total: Math.max(done, count) }));
  // Before the log, for those that it names and are removed meanwhile; after it, for those that it names and are new.
  await copy();
  await copyDatabase(join(dataFolder, 'log', 'events.sqlite'), join(folder, 'log', 'events.sqlite'), (done, total) =>
    onProgress('log', { done, total }),
  );
  const blobs = await copy();
  // A key is made before the first event under it, so these are all that the log needs.
  if (keysFile !== undefined)
    await copyKeys(join(dataFolder, 'vault', 'vault.sqlite'), keysFile, (done, total) =>
      onProgress('keys', { done, total }),
    );
  const manifest: Manifest = {
    format: 'agent-platform/backup',
    version: 1,
    at: clock.now().toISOString(),
    ...(await endOf(join(folder, 'log'))),
    blobs,
  };
  await writeManifest(folder, manifest);
  return manifest;
};

const mustBeFree = async (folder: string, keysFile: string | undefined): Promise<void> => {
  const found = existsSync(folder) ? await readdir(folder) : [];
  if (found.length > 0 && found.every((name) => PARTS.includes(name)))
    throw new BackupError(
      `${folder} holds a backup that did not end: remove it, unless it is being made now, or name another folder`,
    );
  if (found.length > 0) throw new BackupError(`${folder} is not empty`);
  if (keysFile === undefined) return;
  if (existsSync(keysFile)) throw new BackupError(`${keysFile} exists already`);
  if (resolve(keysFile).startsWith(resolve(folder) + sep))
    throw new BackupError('keep the keys outside the backup: whoever has both can read everything');
};

const unfinishedOf = (keysFile: string): string => `${keysFile}.unfinished`;

const copyKeys = async (
  from: string,
  keysFile: string,
  onBytes: (done: number, total: number) => void,
): Promise<void> => {
  const unfinished = unfinishedOf(keysFile);
  await rm(unfinished, { force: true });
  // Made here first, so that nobody but its owner can ever read it.
  await writeFile(unfinished, '', { mode: 0o600 });
  await copyDatabase(from, unfinished, onBytes);
  await rename(unfinished, keysFile);
  await syncToDisk(dirname(resolve(keysFile)));
};

const endOf = async (folder: string): Promise<Pick<Manifest, 'head' | 'lastSeal'>> => {
  const log = await openSqliteLogReader({ folder });
  try {
    const [last] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
    const head = last === undefined ? undefined : headOf(sealOf(last));
    return {
      head: await log.head(),
      lastSeal: head === undefined ? null : knownSealText({ ordinal: head.ordinal, hash: sealHash(head) }),
    };
  } finally {
    await log.close();
  }
};
