import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * The temporary name of a file until it is complete. It is unique, so nobody can have put a link there, and concurrent
 * writers of the same file use other names.
 */
export const unfinishedName = (file: string): string => `${file}.${randomBytes(4).toString('hex')}.unfinished`;

/**
 * Temporary files of a file, from running writers or from processes that died, in the order of names. These cannot be
 * distinguished: the writer may be on another machine.
 */
export const unfinishedBeside = async (file: string): Promise<readonly string[]> => {
  const start = `${basename(file)}.`;
  return (await readdir(dirname(file)))
    .filter((name) => name.startsWith(start) && /^[0-9a-f]{8}\.unfinished$/.test(name.slice(start.length)))
    .toSorted()
    .map((name) => join(dirname(file), name));
};
