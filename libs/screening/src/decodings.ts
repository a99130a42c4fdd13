import { canonicalText, folded } from './canonical';

const LEET: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Words that almost every sentence has, and what is hidden must have to be an order. In folded form. */
const COMMON = new Set(
  'the and all you your this that to of in is for with from not user ignore instruction instructions rule rules previous send reveal show prompt system password always never der die das und alle du dein deine den dem ist mit nicht an zu nutzer anweisungen regeln ignoriere sende zeige verrate immer nie'.split(
    ' ',
  ),
);
const countIn = (words: readonly string[], known: ReadonlySet<string>): number =>
  words.reduce((count, word) => count + (known.has(word) ? 1 : 0), 0);
const wordsOf = (text: string): readonly string[] => text.match(/\w+/g) ?? [];
const commonWords = (text: string): number => countIn(wordsOf(text), COMMON);

/** Bytes as text, if they are readable. */
const readable = (bytes: Buffer): string | undefined => {
  const text = bytes.toString('utf8');
  return text.length > 5 && /^[\p{L}\p{M}\p{N}\p{P}\p{S}\s]+$/u.test(text) && !text.includes('\ufffd')
    ? text
    : undefined;
};
/** A text with what reads as base64 decoded, and something else in place of other long runs: themselves unless told. */
export const base64 = (text: string, other = (run: string): string => run): string =>
  text.replace(/[A-Za-z0-9+/_-]{12,}={0,2}/g, (run) => readable(Buffer.from(run, 'base64')) ?? other(run));
const hex = (text: string): string =>
  text.replace(/(?:(?:\\x|0x)?[0-9a-f]{2}[ ,:]?){8,}/gi, (run) => {
    const digits = run.replace(/\\x|0x|[ ,:]/gi, '');
    return readable(Buffer.from(digits, 'hex')) ?? ' ';
  });
const percent = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
const character = (point: number): string => (point > 0x10ffff ? ' ' : String.fromCodePoint(point));
const escapes = (text: string): string =>
  percent(text)
    .replace(
      /(?:\\u\{|\\U|&#x)0{0,8}([0-9a-f]{1,6})[};]?|(?:\\u|%u)([0-9a-f]{4})|\\x([0-9a-f]{2})/gi,
      (_run, ...digits: readonly (string | undefined)[]) =>
        character(Number.parseInt(digits[0] ?? digits[1] ?? digits[2] ?? '', 16)),
    )
    .replace(/&#0{0,8}(\d{1,7});?/g, (_run, digits: string) => character(Number(digits)))
    .replace(/\\([0-3][0-7]{2})/g, (_run, digits: string) => character(Number.parseInt(digits, 8)));
/** Whether a text may have escapes: `%69`, `%u0069`, `\u0069`, `\u{69}`, `\U00000069`, `\x69`, `\151`, `&#105;` and `&#x69;`. */
const ESCAPED = /(?:%u?|\\[ux]\{?|&#x)[0-9a-f]{2}|&#\d{2}|\\[0-3][0-7]{2}/i;
/** A canonical text with its escapes read, those of escapes too; the text itself where it has none. */
export const unescaped = (text: string): string =>
  ESCAPED.test(text) ? canonicalText(escapes(escapes(text)), 'text') : text;

/** Words that are joined as names in programs are, apart: `send_all_data`, `sendAllData`; letters out of their brackets. */
export const apart = (text: string): string =>
  text.replace(/\((\p{L})\)/gu, '$1').replace(/(?<=\p{L})_+(?=\p{L})|(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
const leet = (text: string): string =>
  text.replace(/\S*[\p{L}]\S*/gu, (word) =>
    /\d|[@$!]./.test(word) ? word.replace(/[013457@$]|!(?=\p{L})/gu, (sign) => LEET[sign] ?? sign) : word,
  );
const spaced = (text: string): string =>
  text.replace(/(?<!\S)\S(?:[ ._*-]\S){4,}(?!\S)(?: {2,}|(?=\W|$))/gu, (run) => `${run.replace(/[ ._*-]/g, '')} `);
export const rot13 = (text: string): string =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));
export const reversed = (text: string): string => [...text].toReversed().join('');
const COMMON_IN_ROT13 = new Set([...COMMON].map(rot13));
const COMMON_REVERSED = new Set([...COMMON].map(reversed));

/** Longer texts are read as they stand; who hides orders in a text needs little room. */
const MOST = 4000;

/**
 * What a text says when it is decoded: from base64, hex, escapes, words joined, digits for letters, letters apart, rot13 and backwards; folded,
 * and only what reads more like sentences than the text itself. Each decoding is done once, in linear time.
 */
export const decodings = (canonical: string): readonly string[] => {
  const text = canonical.slice(0, MOST);
  const read = folded(text);
  const words = wordsOf(read);
  const least = Math.max(2, countIn(words, COMMON) + 1);
  const decoded = [base64(text, () => ' '), hex(text), unescaped(text), apart(text), apart(unescaped(text)), leet(read)]
    .filter((each) => each !== text && each !== read)
    .map((each) => folded(each))
    .filter((each) => each !== read && commonWords(each) >= least);
  if (countIn(words, COMMON_IN_ROT13) >= least) decoded.push(rot13(read));
  if (countIn(words, COMMON_REVERSED) >= least) decoded.push(reversed(read));
  const gathered = spaced(read);
  const isSpaced = gathered !== read && /\p{L}{5,}/u.test(gathered);
  return [...new Set([...decoded, ...(isSpaced ? [gathered] : [])])];
};
