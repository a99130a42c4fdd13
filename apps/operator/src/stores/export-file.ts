import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { EXIT, Failure } from '../exit-codes';

/** As much of a file as tells whether it is an export. */
const LOOKED_AT = 1 << 20;
/** How the lines of an export begin; of a forged or damaged one at least some do. */
const A_LINE = /(?:^|\n)\{"(?:format":"agent-platform\/export"|stream":"|removed":\{"stream":"|footer":\{"events":)/;
const NEWER = /^\{"format":"agent-platform\/export","version":(?!1[,}])/;

/** Throws if a file is not an export at all: that is a wrong file, not a sign of tampering. */
export const assertExport = async (file: string): Promise<void> => {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(
      error.code === 'ENOENT' ? `File ${file} not found.` : `File ${file} cannot be read (${error.code}).`,
      EXIT.wrongUsage,
    );
  });
  if (!found.isFile()) throw new Failure(`${file} is a folder, not an export.`, EXIT.wrongUsage);
  const isGzipped = await beginsAsGzip(file);
  if (isGzipped !== file.endsWith('.gz'))
    throw new Failure(
      isGzipped
        ? `${file} is gzipped. Rename it to ${file}.gz.`
        : `${file} is not gzipped, though its name ends in .gz. Rename it.`,
      EXIT.wrongUsage,
    );
  const beginning = await beginningOf(file, isGzipped);
  if (!A_LINE.test(beginning))
    throw new Failure(`${file} is not an export. Give a file that operator export wrote.`, EXIT.wrongUsage);
  if (NEWER.test(beginning))
    throw new Failure(`${file} was written by a newer version of the product. Use that version.`);
};

const beginsAsGzip = async (file: string): Promise<boolean> => {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
};

/** What can be read of it: an export that was cut off is one. */
const beginningOf = async (file: string, isGzipped: boolean): Promise<string> => {
  const raw = createReadStream(file);
  const bytes = isGzipped ? raw.pipe(createGunzip()) : raw;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= LOOKED_AT) break;
    }
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true &&
      (error as Error).message !== 'unexpected end of file'
    )
      throw error;
  } finally {
    raw.destroy();
  }
  return Buffer.concat(chunks).toString('utf8');
};
