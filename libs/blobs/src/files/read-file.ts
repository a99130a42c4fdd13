import { closeSync, fstatSync, open as openFile, read as readFile } from 'node:fs';
import { promisify } from 'node:util';
import { absent, throwUnavailable } from './file-errors';

/** Bytes of a file that is read at once: a frame of a body and what stands around it. */
const MOST_AT_ONCE = 65 * 1024;

const open = promisify(openFile);
const read = promisify(readFile);

/** A file as it was found. */
export interface FoundFile {
  /** Bytes. */
  readonly size: number;
  /** All of a small file, nothing of another. */
  readonly content: Buffer;
}

/**
 * Looks for a file, and reads it where it is small; undefined where there is none. Throws `Unavailable` where it cannot be read. Each call of Node's pool of threads wakes two
 * threads and costs more than a small file, so it takes two of them: what is asked of an open file meanwhile waits for no disk.
 */
export const findFile = (file: string): Promise<FoundFile | undefined> =>
  withFile(file, async (opened) => {
    const { size } = fstatSync(opened);
    return { size, content: size > MOST_AT_ONCE ? NOTHING : await bytesOf(opened, 0, size) };
  });

/** A part of a file: less where it ends before, nothing where it is gone. */
export const readPart = async (file: string, start: number, end: number): Promise<Buffer> =>
  (await withFile(file, (opened) => bytesOf(opened, start, end))) ?? NOTHING;

const NOTHING = Buffer.alloc(0);

const withFile = async <T>(file: string, work: (opened: number) => Promise<T>): Promise<T | undefined> => {
  const opened = await open(file, 'r').catch(absent);
  if (opened === undefined) return undefined;
  try {
    return await work(opened).catch(throwUnavailable);
  } finally {
    closeSync(opened);
  }
};

const bytesOf = async (opened: number, start: number, end: number): Promise<Buffer> => {
  const { bytesRead, buffer } = await read(opened, Buffer.allocUnsafe(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
};
