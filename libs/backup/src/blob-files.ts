import { constants, type Dirent } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isBlobName } from '@app/blobs';
import { syncToDisk } from '@app/kernel';

const FOLDER = /^[0-9a-f]{2}$/;
const CONCURRENCY = 8;

/** Copies the files of blobs that the target has not, as they are: encrypted. Answers how many are there then. */
export const copyBlobs = async (
  from: string,
  to: string,
  onCopied: (copied: number) => void = () => undefined,
): Promise<number> => {
  let present = 0;
  let copied = 0;
  for (const folder of await foldersIn(from)) {
    await mkdir(join(to, folder), { recursive: true, mode: 0o700 });
    const known = new Set(await readdir(join(to, folder)));
    const missing = (await readdir(join(from, folder))).filter((name) => !known.has(name));
    const copies = Array.from({ length: CONCURRENCY }, async () => {
      for (let name = missing.pop(); name !== undefined; name = missing.pop()) {
        if (await copyIfPresent(join(from, folder, name), join(to, folder, name))) onCopied((copied += 1));
      }
    });
    // Whoever cleans up after one that failed must meet none that is still copying.
    for (const copy of await Promise.allSettled(copies)) if (copy.status === 'rejected') throw copy.reason;
    await syncToDisk(join(to, folder));
    present += (await readdir(join(to, folder))).filter(isBlobName).length;
  }
  return present;
};

/** Blobs and the bytes they take. */
export const sizeOfBlobs = async (folder: string): Promise<{ readonly count: number; readonly bytes: number }> => {
  let count = 0;
  let bytes = 0;
  for (const inner of await foldersIn(folder)) {
    for (const name of await readdir(join(folder, inner))) {
      bytes += (await stat(join(folder, inner, name))).size;
      count += 1;
    }
  }
  return { count, bytes };
};

const foldersIn = async (folder: string): Promise<readonly string[]> => {
  const entries: readonly Dirent[] = await readdir(folder, { withFileTypes: true }).catch(noneIfAbsent);
  return entries
    .filter((entry) => entry.isDirectory() && FOLDER.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
};

/**
 * A blob that was removed since it was listed is nothing that the copy needs. It has its name once it is whole: what a
 * full disk or a kill cut off would be taken for copied when the copy is repeated.
 */
const copyIfPresent = async (from: string, to: string): Promise<boolean> => {
  const unfinished = `${to}.unfinished`;
  try {
    await copyFile(from, unfinished, constants.COPYFILE_FICLONE);
    await syncToDisk(unfinished);
    await rename(unfinished, to);
    return true;
  } catch (error) {
    await rm(unfinished, { force: true });
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

const noneIfAbsent = (error: NodeJS.ErrnoException): readonly Dirent[] => {
  if (error.code === 'ENOENT') return [];
  throw error;
};
