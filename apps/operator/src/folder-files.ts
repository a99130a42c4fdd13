import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { EXIT, Failure, Unreadable } from './exit-codes';

export interface FolderFile {
  /** In the folder, its parts separated by `/`. */
  readonly path: string;
  /** Where it is. */
  readonly file: string;
  /** SHA-256 in hex. */
  readonly contentHash: string;
}

/**
 * Lists the files of a folder and its subfolders by path, without hidden files. Skips links, since their targets in
 * the folder are listed anyway. Throws `Failure` for a link that leads out of the folder, and for a folder that
 * cannot be read.
 */
export const filesOf = async (
  folder: string,
): Promise<{ readonly root: string; readonly files: readonly FolderFile[]; readonly skipped: readonly string[] }> => {
  const root = await realpath(folder).catch(() => {
    throw new Failure(`${folder} is not a folder, or cannot be read.`, EXIT.wrongUsage);
  });
  const files: FolderFile[] = [];
  const skipped: string[] = [];
  const walk = async (within: string): Promise<void> => {
    const entries = await readdir(within, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      throw new Failure(`${within} cannot be read as a folder (${error.code}).`, EXIT.wrongUsage);
    });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const file = join(within, entry.name);
      const path = relative(root, file).replaceAll(sep, '/');
      if (entry.isDirectory()) await walk(file);
      else if (entry.isFile()) files.push({ path, file, contentHash: await hashOf(root, file) });
      else if (entry.isSymbolicLink()) skipped.push(await linkWithin(root, file, path));
      else skipped.push(path);
    }
  };
  await walk(root);
  return { root, files, skipped };
};

const linkWithin = async (root: string, link: string, path: string): Promise<string> => {
  const target = await realpath(link).catch(() => undefined);
  // A link to nothing leads nowhere.
  if (target !== undefined && target !== root && !isWithin(root, target)) throw leadsOut(path);
  return path;
};

const isWithin = (root: string, target: string): boolean => target.startsWith(root.endsWith(sep) ? root : root + sep);

const leadsOut = (path: string): Unreadable =>
  new Unreadable(`${path} is a link that leads out of the folder. Remove it, or replace it with a copy of its target.`);

const hashOf = (root: string, file: string): Promise<string> =>
  withOpened(root, file, async (handle) => {
    const digest = createHash('sha256');
    for await (const piece of handle.createReadStream({ autoClose: false })) digest.update(piece as Buffer);
    return digest.digest('hex');
  });

/**
 * Opens a file that was listed. Whoever may write to the folder may have put a link in its place since, or in that of a
 * folder above it. `at`: where its bytes are read from; on Linux that is what was opened, whatever stands in its place by
 * then. Throws `Unreadable` for what leads out of the folder, is no file, or cannot be read.
 */
export const withOpened = async <T>(
  root: string,
  file: string,
  work: (handle: FileHandle, at: string) => Promise<T>,
): Promise<T> => {
  let handle: FileHandle | undefined;
  try {
    // Opening a pipe would wait for its writer.
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const at = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : file;
    if (!isWithin(root, await realpath(at))) throw leadsOut(relative(root, file));
    if (!(await handle.stat()).isFile()) throw new Unreadable(`${file} is no file any more.`);
    return await work(handle, at);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') throw leadsOut(relative(root, file));
    if (syscall === undefined) throw error;
    throw new Unreadable(`${file} cannot be read (${code}).`);
  } finally {
    await handle?.close();
  }
};
