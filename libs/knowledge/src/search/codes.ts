import { joinedCodes, queryTerms, type SearchHit, withCodesJoined } from '@app/search-index';

/**
 * A name that signs join or end: `INV-2024-001`, `10.0.0.7`, `15.03.2024`, `node.js`, `ada@example.com`, `C++`. The index holds
 * its words one by one, so that it finds every address of the same numbers.
 */
interface Code {
  readonly text: string;
  /** How many words the index takes it for. */
  readonly words: number;
}

/** More codes in a query are not looked for, nor longer ones. */
const MOST_CODES = 8;
const MOST_CHARACTERS = 200;
/** What a passage that lacks the code loses where the query is nothing else. */
const LACKING = 0.9;
/** So many passages are found for a query with a code: many may have its words, and few the code. */
export const LEAST_FOUND_OF_CODES = 128;

/** Scripts that put no spaces between words, and their punctuation: a code may stand right beside them. */
const BETWEEN = /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}、。「」]+/u;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const JOINED = /[\p{L}\p{N}\p{M}][^\p{L}\p{N}\p{M}]+[\p{L}\p{N}]/u;
/** Signs of codes. Hyphens, apostrophes and slashes join plain words, too. */
const SIGN = /[._@:\\#+&=]/;

/** Characters that make an adjacent code part of a longer one. A letter may precede a number, as in `v1.2`. */
const BEGUN = /(?:[\p{L}\p{N}]|\p{N}[.,])$/u;
const BEGUN_NUMBER = /\p{N}[.,]?$/u;
const GOES_ON = /^(?:[\p{L}\p{N}]|[.,]\p{N})/u;

/** The codes of a query as they are compared. */
export const codesOf = (query: string): readonly Code[] => {
  const parts = comparable(query)
    .split(BETWEEN)
    .filter(({ length }) => length <= MOST_CHARACTERS)
    .map((part) => part.replace(/^[^\p{L}\p{N}]+/u, '').replace(/[^\p{L}\p{N}+#]+$/u, ''));
  return [...new Set(parts)]
    .filter(isCode)
    .slice(0, MOST_CODES)
    .map((text) => ({ text, words: (text.match(WORD) ?? []).length }));
};

/**
 * Hits, with a penalty for those that lack a code of the query that other hits have: they count a tenth if the query
 * has nothing else, and more, the more other words it has.
 */
export const withCodesFirst = (query: string, hits: readonly SearchHit[]): readonly SearchHit[] => {
  const codes = codesOf(query);
  if (codes.length === 0) return hits;
  const texts = hits.map(({ documentName, headings, text }) =>
    comparable([documentName, ...headings, text].join('\n')),
  );
  const having = codes.map(({ text }) => {
    const other = withCodesJoined(text);
    return texts.map((read) => stands(text, read) || (other !== text && stands(other, withJoinedCodes(read))));
  });
  const asked = Math.max(queryTerms(query).en.length, 1);
  const lacked = (at: number): number =>
    codes.reduce(
      (sum, { words }, code) => sum + (having[code]?.[at] === false && having[code].includes(true) ? words : 0),
      0,
    );
  return hits
    .map((hit, at) => ({ ...hit, score: hit.score * (1 - LACKING * Math.min(lacked(at) / asked, 1) ** 2) }))
    .toSorted((a, b) => b.score - a.score);
};

const withJoinedCodes = (read: string): string => `${read} ${joinedCodes(read).join(' ')}`;

const comparable = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll('\u00ad', '');

/** Not abbreviations, as `e.g.`, nor words that are joined, as `state-of-the-art`. */
const isCode = (part: string): boolean => {
  const words = part.match(WORD) ?? [];
  if (words.length === 1) return /[+#]$/.test(part);
  return JOINED.test(part) && (/\p{N}/u.test(part) || (SIGN.test(part) && words.some((word) => word.length > 1)));
};

/** Whether it stands somewhere where no letter, digit or further number makes it another one. */
const stands = (code: string, read: string): boolean => {
  const begun = /^\p{N}/u.test(code) ? BEGUN_NUMBER : BEGUN;
  const mayGoOn = /[+#]$/.test(code);
  for (let at = read.indexOf(code); at !== -1; at = read.indexOf(code, at + 1)) {
    const end = at + code.length;
    if (!begun.test(read.slice(Math.max(at - 3, 0), at)) && (mayGoOn || !GOES_ON.test(read.slice(end, end + 3))))
      return true;
  }
  return false;
};
