import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Where a file is written until it is whole: a name of its own, so that nobody has put a link there, and others who write the same file at the same time do not write here. */
export const unfinishedName = (file: string): string => `${file}.${randomBytes(4).toString('hex')}.unfinished`;

/** What is being written for a file, or was by a process that died, in the order of names. Nothing can tell which: it may be of another machine. */
export const unfinishedBeside = async (file: string): Promise<readonly string[]> => {
  const start = `${basename(file)}.`;
  return (await readdir(dirname(file)))
    .filter((name) => name.startsWith(start) && /^[0-9a-f]{8}\.unfinished$/.test(name.slice(start.length)))
    .toSorted()
    .map((name) => join(dirname(file), name));
};
