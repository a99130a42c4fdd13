import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import { fail } from './extraction';

/** Bytes that an encoding is told by. */
const SAMPLE = 64 * 1024;
/** How sure the detector must be of another encoding than the one of Western Europe, percent. */
const SURE = 60;
const UTF_8 = 'utf-8';
const WESTERN = 'windows-1252';
const LATIN_9 = 'iso-8859-15';
const MAC = 'macintosh';
const DOS = 'ibm850';

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
  const text = decoded(body, markOf(body) ?? encodingOf(body, knownEncoding(named)));
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
  if (isUtf8(body) || isDamagedUtf8(body)) return UTF_8;
  if (named !== undefined && named !== UTF_8 && !named.startsWith('utf-16')) return named;
  const likely = analyse(sample).find(
    ({ name, confidence }) => confidence >= SURE && knownEncoding(name) !== undefined,
  );
  const found = knownEncoding(likely?.name);
  if (found !== undefined && found !== UTF_8 && found !== WESTERN && found !== MAC) return found;
  const { dos, mac, western } = umlautsOf(sample);
  return dos > western ? DOS : mac > western ? MAC : hasOldEuro(body) ? LATIN_9 : WESTERN;
};

/** Where Latin 9 has the euro sign Windows has that of any currency, which nobody writes; and Windows has signs where Latin 9 has controls. */
const hasOldEuro = (body: Buffer): boolean => body.includes(0xa4) && !body.some((byte) => byte >= 0x80 && byte < 0xa0);

/** UTF-8 in which a few bytes are broken, or which is cut off in a letter. Letters of others hardly ever look like several of its sequences. */
const isDamagedUtf8 = (body: Buffer): boolean => {
  const first = body.findIndex((byte) => byte > 0x7f);
  const text = body.subarray(first, first + SAMPLE).toString('utf8');
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  const whole = text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0;
  return whole > 2 * broken;
};

/**
 * Bytes within words that only one encoding has German umlauts for: in that of DOS what Windows has quotation marks for, in that of the
 * Macintosh `ü` and `ß` where Windows has `Ÿ` and `§`.
 */
const umlautsOf = (sample: Buffer): { readonly dos: number; readonly mac: number; readonly western: number } => {
  const inWords = sample.toString('latin1').match(/(?<=[A-Za-z])[\x80-\xff](?=[a-z])/g) ?? [];
  const count = (letters: string): number => inWords.filter((letter) => letters.includes(letter)).length;
  return { dos: count('\x81\x84\x94'), mac: count('\x9f\xa7'), western: count('\xe4\xf6\xfc\xdf') };
};

/** The upper half of code page 850, which the runtime does not know. */
const DOS_LETTERS =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

const decoded = (body: Buffer, encoding: string): string =>
  encoding === DOS
    ? body.toString('latin1').replace(/[\x80-\xff]/g, (byte) => DOS_LETTERS[byte.charCodeAt(0) - 0x80] as string)
    : new TextDecoder(encoding).decode(body);

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
