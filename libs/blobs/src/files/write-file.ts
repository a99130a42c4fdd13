import { closeSync, constants, open as openFile, writev as writePiecesTo } from 'node:fs';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Bytes written to a file at once, but for its end. */
const LEAST_WRITTEN = 64 * 1024;
/** Of a file that is written in one call: a frame of a body and what stands around it. */
const MOST_AT_ONCE = 65 * 1024;
/** For the owner alone. */
const MODE = 0o600;
/** What is written is on the disk once the write returns. */
const SYNCED = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_SYNC;

const openNew = promisify(openFile);
const writev = promisify(writePiecesTo);

/** Writes a new file, whose bytes are on the disk then. Its name in the folder need not be. */
export const writeFile = async (file: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> => {
  if (Array.isArray(pieces) && sizeOf(pieces as readonly Buffer[]) <= MOST_AT_ONCE) await writeAtOnce(file, pieces);
  else await writePieces(file, pieces);
};

const sizeOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** A small file is written and synced in one call: each call waits for a thread of Node's pool, which costs more than the write does. */
const writeAtOnce = async (file: string, pieces: readonly Buffer[]): Promise<void> => {
  const opened = await openNew(file, SYNCED, MODE);
  try {
    for (let left = pieces; sizeOf(left) > 0;) {
      const { bytesWritten } = await writev(opened, left);
      // All of it, unless the disk is full: the next call says so.
      left = bytesWritten === sizeOf(left) ? [] : [Buffer.concat(left).subarray(bytesWritten)];
    }
  } finally {
    // All is on the disk: this frees a number.
    closeSync(opened);
  }
};

const writePieces = async (file: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> => {
  const handle = await open(file, 'wx', MODE);
  try {
    for await (const piece of gathered(pieces)) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** The same bytes in pieces that are worth a write of their own. */
async function* gathered(pieces: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < LEAST_WRITTEN) continue;
    yield Buffer.concat(held);
    [held, bytes] = [[], 0];
  }
  yield Buffer.concat(held);
}
