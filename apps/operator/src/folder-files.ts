import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { EXIT, Failure } from './exit-codes';

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
): Promise<{ readonly files: readonly FolderFile[]; readonly skipped: readonly string[] }> => {
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
      else if (entry.isFile()) files.push({ path, file, contentHash: await hashOf(file) });
      else if (entry.isSymbolicLink()) skipped.push(await linkWithin(root, file, path));
      else skipped.push(path);
    }
  };
  await walk(root);
  return { files, skipped };
};

const linkWithin = async (root: string, link: string, path: string): Promise<string> => {
  const target = await realpath(link).catch(() => undefined);
  // A link to nothing leads nowhere.
  if (target !== undefined && target !== root && !target.startsWith(root + sep))
    throw new Failure(
      `${path} is a link that leads out of the folder. Remove it, or replace it with a copy of its target.`,
    );
  return path;
};

const hashOf = async (file: string): Promise<string> => {
  const digest = createHash('sha256');
  try {
    for await (const piece of createReadStream(file)) digest.update(piece as Buffer);
  } catch (error) {
    throw new Failure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  return digest.digest('hex');
};
