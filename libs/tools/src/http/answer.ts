import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { GatheredBytes } from '@app/kernel';

/** Bytes of an answer that a model is shown at most, after inflating. */
export const MOST_BYTES = 256 * 1024;
/** What is read beyond them, so that a secret at the end is seen whole. */
const MARGIN_BYTES = 16 * 1024;

/** The body of an answer as text. `isCut`: there was more of it. */
export interface AnswerText {
  readonly text: string;
  readonly isJson: boolean;
  readonly isCut: boolean;
}

/** An answer that is no text, or is written in a way that is not read. The message is a sentence for the model. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

const TEXT =
  /^(?:text\/|application\/(?:.+\+)?(?:json|xml|yaml)$|application\/(?:x-ndjson|jsonl|javascript|x-yaml|x-www-form-urlencoded)$)/;
const JSON_TYPE = /^application\/(?:.+\+)?json$/;

/** Reads the body of an answer up to its limit, and leaves the rest. Throws `UnreadableAnswer`, and what the connection fails with. */
export const answerText = async (body: Readable, headers: IncomingHttpHeaders): Promise<AnswerText> => {
  const [type = '', ...parameters] = String(headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const { bytes, isCut } = await upTo(inflated(body, headers['content-encoding']), MOST_BYTES + MARGIN_BYTES);
  if (bytes.length === 0) return { text: '', isJson: false, isCut };
  if (!(type === '' || TEXT.test(type)) || bytes.includes(0))
    throw new UnreadableAnswer('The answer of the API is neither text nor JSON, and cannot be read.');
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  // C0 and C1 but for tabs and ends of lines: nothing that steers what shows it.
  const text = decoderOf(charset)
    .decode(bytes)
    .replaceAll(/[^\P{Cc}\t\n\r]/gu, '');
  return { text, isJson: JSON_TYPE.test(type), isCut };
};

const decoderOf = (charset = 'utf-8'): InstanceType<typeof TextDecoder> => {
  try {
    return new TextDecoder(charset);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
};

const inflated = (body: Readable, encoding: unknown): Readable => {
  const inflate = inflaterOf(encoding);
  // Whoever reads the second stream hears of a failure of either.
  return inflate === undefined ? body : pipeline(body, inflate, () => undefined);
};

const inflaterOf = (encoding: unknown) => {
  switch (encoding === undefined ? 'identity' : String(encoding).trim().toLowerCase()) {
    case 'identity':
    case '':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new UnreadableAnswer('The API answered in a content-encoding that is not supported.');
  }
};

const upTo = async (source: Readable, most: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> => {
  const bytes = new GatheredBytes();
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes.add(chunk);
    // Leaving the loop destroys the streams, and with them the connection.
    if (bytes.length > most) return { bytes: bytes.whole().subarray(0, most), isCut: true };
  }
  return { bytes: bytes.whole(), isCut: false };
};
