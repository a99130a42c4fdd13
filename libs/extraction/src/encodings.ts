import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import { fail } from './extraction';

/** Bytes that an encoding is told by. */
const SAMPLE = 64 * 1024;
/** How sure the detector must be of another encoding than the one of Western Europe, percent. */
const SURE = 60;
const UTF_8 = 'utf-8';
const WESTERN = 'windows-1252';

const MARKS: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], UTF_8],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/**
 * The text of bytes in whatever encoding: that of the byte order mark, else UTF-16 without its mark or UTF-8 where they are it,
 * else the one that is named (by a page, a header), else what the detector takes them for. Throws `ExtractionFailure` `code`
 * where they are no text.
 */
export const decodeText = (
  body: Buffer,
  code: 'invalid_text' | 'unsupported_type' | 'malformed',
  named?: string,
): string => {
  const encoding = markOf(body) ?? encodingOf(body, knownEncoding(named));
  const text = new TextDecoder(encoding).decode(body);
  return isText(text) ? text : fail(code);
};

/** The name by which this runtime knows an encoding; undefined where it does not. */
export const knownEncoding = (label: string | undefined): string | undefined => {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const markOf = (body: Buffer): string | undefined =>
  MARKS.find(([mark]) => mark.every((byte, index) => body[index] === byte))?.[1];

const encodingOf = (body: Buffer, named: string | undefined): string => {
  const sample = body.subarray(0, SAMPLE);
  const wide = utf16Of(sample);
  if (wide !== undefined) return wide;
  // Written in bytes of ASCII, so that it looks like UTF-8.
  if (named === 'iso-2022-jp') return named;
  if (isUtf8(body)) return UTF_8;
  if (named !== undefined && named !== UTF_8 && !named.startsWith('utf-16')) return named;
  const likely = analyse(sample).find(
    ({ name, confidence }) => confidence >= SURE && knownEncoding(name) !== undefined,
  );
  const found = knownEncoding(likely?.name);
  // What is no UTF-8 anywhere is none because it begins so.
  return found === undefined || found === UTF_8 ? WESTERN : found;
};

/** UTF-16 without its mark has a zero beside every letter of Latin scripts. */
const utf16Of = (sample: Buffer): string | undefined => {
  let even = 0;
  let odd = 0;
  for (let index = 0; index < sample.length; index += 1)
    if (sample[index] === 0) {
      if (index % 2 === 0) even += 1;
      else odd += 1;
    }
  const half = sample.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return 'utf-16le';
  return even > half * 0.4 && odd < half * 0.05 ? 'utf-16be' : undefined;
};

/** Text has no NUL, and hardly a control or a replacement character. */
const isText = (text: string): boolean => {
  const sample = text.slice(0, SAMPLE);
  const odd = sample.match(/(?!\s)\p{Cc}|\ufffd/gu)?.length ?? 0;
  return !text.includes('\0') && odd <= sample.length * 0.05;
};
