/** Longer runs of letters are no words; only their beginning counts. Scripts without spaces are never cut. */
const MAX_WORD_CHARACTERS = 64;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;

/**
 * Letters of scripts that put no spaces between words, or append endings to names as Korean does, and signs that stand only among
 * them, such as the long vowel of Katakana. The same letters stand in `elasticsearch/index-schema.ts`.
 */
const UNSPACED_LETTERS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3006\u3031-\u3035\u303C\u30FC\uFF70\uFF9E\uFF9F`;
const UNSPACED = new RegExp(`[${UNSPACED_LETTERS}]`, 'u');
/** What a word consists of where such a script stands beside another, as in "API接口". Marks belong to the letter before. */
const RUNS = new RegExp(String.raw`[${UNSPACED_LETTERS}][${UNSPACED_LETTERS}\p{M}]*|[^${UNSPACED_LETTERS}]+`, 'gu');

/** None of those letters is outside of these ranges: tells most texts without them at once. */
const MAYBE_UNSPACED = /[\u0e00-\u1cff\u2e80-\uffff]/;

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
  return MAYBE_UNSPACED.test(text)
    ? all.flatMap((word) => (UNSPACED.test(word) ? (word.match(RUNS) ?? []) : [word]))
    : all;
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
const pairs = (word: string): readonly string[] => {
  const characters = [...folded(word).normalize('NFC')];
  return characters.length <= 1
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};
