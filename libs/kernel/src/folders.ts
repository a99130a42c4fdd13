import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { open } from 'node:fs/promises';

/** A folder cannot be made or written; the message says which and what to do. */
export class UnusableFolder extends Error {
  override readonly name = 'UnusableFolder';
}

/**
 * Makes a folder and its parents, for the owner alone, one by one: Node's `recursive` loops for ever if the file
 * system denies that a parent exists, as `/proc` does.
 */
export const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

/**
 * Makes a folder if it is missing. Throws `UnusableFolder`, which calls it `name`, if this process may not write to
 * it.
 */
export const assertFolder = (name: string, folder: string): void => {
  try {
    makeFolder(folder);
    accessSync(`${folder}/.`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UnusableFolder(
      `${name} ${folder} cannot be used: ${reasonOf((error as NodeJS.ErrnoException).code ?? '')}. Set ${name} to a folder that this user may write.`,
      { cause: error },
    );
  }
};

const reasonOf = (code: string): string =>
  ({
    ENOENT: 'it cannot be created there',
    ENOTDIR: 'part of the path is a file',
    EACCES: 'this user may not write there',
    EPERM: 'this user may not write there',
    EROFS: 'the disk is read-only',
    ENOSPC: 'the disk is full',
  })[code] ?? code;

/** Flushes the bytes of a file, or the names in a folder, to the disk: without it a power failure may undo a rename. */
export const syncToDisk = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
