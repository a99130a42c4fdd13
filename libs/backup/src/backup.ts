import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { type Clock, makeFolder, syncToDisk } from '@app/kernel';
import { noteKeysDigest } from '@app/vault';
import { copyBlobs, sizeOfBlobs } from './blob-files';
import { copyDatabase, copyError } from './copy-database';
import { endOf } from './end-of-log';
import { LISTING_FILE, LOG_PATH, writeListing } from './listing';
import { BackupError, type Manifest, UNFINISHED_MANIFEST, writeManifest } from './manifest';

/** The steps of a backup. */
export type BackupStep = 'log' | 'blobs' | 'keys' | 'hash';

/** What is backed up, and where to. `done` and `total` are bytes or numbers of what the step is about. */
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
  const made: string[] = [];
  try {
    makeFolder(resolve(folder));
    await claim(folder, mkdir(join(folder, 'log'), { mode: 0o700 }));
    made.push(...(isNew ? [folder] : PARTS.map((part) => join(folder, part))));
    if (keysFile !== undefined) await claimKeys(keysFile, made);
    return await copyAll({ dataFolder, folder, keysFile, clock, onProgress }, made);
  } catch (error) {
    for (const path of made) await rm(path, { recursive: true, force: true });
    throw error;
  }
};

const PARTS = ['log', 'blobs', LISTING_FILE, UNFINISHED_MANIFEST];

/** Of several that are made at once, one makes what is named, and the others touch nothing. */
const claim = async (named: string, making: Promise<unknown>): Promise<void> => {
  try {
    await making;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? unended(named) : error;
  }
};

const unended = (named: string): BackupError =>
  new BackupError(`${named} holds a backup that did not end: remove it, unless it is being made now, or name another`);

/** Makes the file that the keys go into, first, so that nobody but its owner can ever read it. */
const claimKeys = async (keysFile: string, made: string[]): Promise<void> => {
  const unfinished = unfinishedOf(keysFile);
  await claim(unfinished, writeFile(unfinished, '', { mode: 0o600, flag: 'wx' }));
  made.push(unfinished);
};

const keysExist = (keysFile: string): BackupError => new BackupError(`${keysFile} exists already`);

const copyAll = async (
  { dataFolder, folder, keysFile, clock, onProgress }: BackupOptions & Required<Pick<BackupOptions, 'onProgress'>>,
  made: string[],
): Promise<Manifest> => {
  makeFolder(resolve(folder, 'blobs'));
  const source = join(dataFolder, 'blobs');
  const { count } = await sizeOfBlobs(source);
  const copy = () =>
    copyBlobs(source, join(folder, 'blobs'), {
      onCopied: (done) => onProgress('blobs', { done, total: Math.max(done, count) }),
    });
  // Before the log, for those that it names and are removed meanwhile; after it, for those that it names and are new.
  await copy();
  await copyDatabase(join(dataFolder, 'log', 'events.sqlite'), join(folder, 'log', 'events.sqlite'), (done, total) =>
    onProgress('log', { done, total }),
  );
  const blobs = await copy();
  // A key is made before the first event under it, so these are all that the log needs.
  if (keysFile !== undefined) {
    await copyKeys(join(dataFolder, 'vault', 'vault.sqlite'), keysFile, (done, total) =>
      onProgress('keys', { done, total }),
    );
    made.push(keysFile);
  }
  const manifest: Manifest = {
    format: 'agent-platform/backup',
    version: 2,
    at: clock.now().toISOString(),
    ...(await endOf(join(folder, 'log'))),
    blobs,
    listing: await writeListing(folder, await bytesIn(folder), (progress) => onProgress('hash', progress)),
  };
  await writeManifest(folder, manifest);
  return manifest;
};

const bytesIn = async (folder: string): Promise<number> =>
  (await stat(join(folder, LOG_PATH))).size + (await sizeOfBlobs(join(folder, 'blobs'))).bytes;

const mustBeFree = async (folder: string, keysFile: string | undefined): Promise<void> => {
  const found = existsSync(folder) ? await readdir(folder) : [];
  if (found.length > 0 && found.every((name) => PARTS.includes(name))) throw unended(folder);
  if (found.length > 0) throw new BackupError(`${folder} is not empty`);
  if (keysFile === undefined) return;
  if (existsSync(keysFile)) throw keysExist(keysFile);
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
  await copyDatabase(from, unfinished, onBytes);
  try {
    noteKeysDigest(unfinished);
  } catch (error) {
    throw copyError(from, unfinished, error);
  }
  if (existsSync(keysFile)) throw keysExist(keysFile);
  await rename(unfinished, keysFile);
  await syncToDisk(dirname(resolve(keysFile)));
};
