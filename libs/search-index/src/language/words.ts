import { MAYBE_UNSPACED, neighbouringPairs, scriptRuns, UNSPACED } from '@app/kernel/threads';

/** Longer runs of letters are no words; only their beginning counts. Scripts without spaces are never cut. */
const MAX_WORD_CHARACTERS = 64;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/** The words of a text as written, cut where its script changes to or from one without spaces. */
export const writtenWords = (text: string): readonly string[] => runsOf(text).map(beginning);

/** The words of a text in the same letters, however it writes them. In scripts without spaces every two neighbouring characters are one. */
export const foldedWords = (text: string): readonly string[] => {
  const all = MAYBE_UNSPACED.test(text)
    ? writtenWords(text).flatMap((word) => (UNSPACED.test(word) ? pairs(word) : [folded(word)]))
    : runsOf(text).map((word) => folded(word.slice(0, MAX_WORD_CHARACTERS)));
  return all.includes('') ? all.filter((word) => word !== '') : all;
};

const runsOf = (text: string): readonly string[] => {
  const all = text.match(WORD) ?? [];
  return MAYBE_UNSPACED.test(text) ? all.flatMap(scriptRuns) : all;
};

/** Lower case without accents, so that index and queries compare the same letters. */
export const folded = (word: string): string => {
  const lower = word.toLowerCase();
  return /^[a-z0-9]*$/.test(lower)
    ? lower
    : lower.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
};

const beginning = (word: string): string =>
  word.length <= MAX_WORD_CHARACTERS || UNSPACED.test(word) ? word : word.slice(0, MAX_WORD_CHARACTERS);

/** Syllables of Hangul are put together again: folding takes them apart. */
const pairs = (word: string): readonly string[] => neighbouringPairs(folded(word).normalize('NFC'));
