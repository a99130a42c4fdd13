import { createHash } from 'node:crypto';
import { constants, createReadStream, type Dirent } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isBlobName } from '@app/blobs';
import { syncToDisk } from '@app/kernel';

const FOLDER = /^[0-9a-f]{2}$/;
const CONCURRENCY = 8;

export interface CopyBlobsOptions {
  readonly onCopied?: (copied: number) => void;
  /** Whether the target's file of the same name stays. */
  readonly mayKeep?: (from: string, to: string) => Promise<boolean>;
  /** Whether a file is not copied, by its path below the folder. */
  readonly leaveOut?: (path: string) => boolean;
}

/** Copies the files of blobs that the target has not, or may not keep, as they are: encrypted. Answers how many are there then. */
export const copyBlobs = async (
  from: string,
  to: string,
  { onCopied = () => undefined, mayKeep = async () => true, leaveOut = () => false }: CopyBlobsOptions = {},
): Promise<number> => {
  let present = 0;
  let copied = 0;
  for (const folder of await blobFolders(from)) {
    await mkdir(join(to, folder), { recursive: true, mode: 0o700 });
    const known = new Set(await readdir(join(to, folder)));
    const names = (await readdir(join(from, folder))).filter(
      (name) => isBlobName(name) && !leaveOut(join(folder, name)),
    );
    const copies = Array.from({ length: CONCURRENCY }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const paths = [join(from, folder, name), join(to, folder, name)] as const;
        if (known.has(name) && (await mayKeep(...paths))) continue;
        if (await copyIfPresent(...paths)) onCopied((copied += 1));
      }
    });
    // Whoever cleans up after one that failed must meet none that is still copying.
    for (const copy of await Promise.allSettled(copies)) if (copy.status === 'rejected') throw copy.reason;
    await syncToDisk(join(to, folder));
    present += (await readdir(join(to, folder))).filter(isBlobName).length;
  }
  return present;
};

/** Whether two files have the same bytes. */
export const sameBytes = async (one: string, other: string): Promise<boolean> => {
  const [size, another] = await Promise.all([one, other].map(async (file) => (await stat(file)).size));
  return size === another && (await hashOf(one)).sha256 === (await hashOf(other)).sha256;
};

/** Bytes of a file, and its SHA-256 in hex. `onPiece` hears how many bytes came: a log may be one file of gigabytes. */
export const hashOf = async (
  file: string,
  onPiece: (bytes: number) => void = () => undefined,
): Promise<{ readonly bytes: number; readonly sha256: string }> => {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    digest.update(piece);
    bytes += piece.length;
    onPiece(piece.length);
  }
  return { bytes, sha256: digest.digest('hex') };
};

/** Blobs and the bytes they take. */
export const sizeOfBlobs = async (folder: string): Promise<{ readonly count: number; readonly bytes: number }> => {
  let count = 0;
  let bytes = 0;
  for (const inner of await blobFolders(folder)) {
    for (const name of await readdir(join(folder, inner))) {
      bytes += (await stat(join(folder, inner, name))).size;
      count += 1;
    }
  }
  return { count, bytes };
};

/** The folders that blobs stand in, in order. */
export const blobFolders = async (folder: string): Promise<readonly string[]> => {
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
