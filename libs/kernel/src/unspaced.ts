/**
 * Letters of scripts without spaces between words, or with endings appended to names (Korean), and signs that occur
 * only among them, such as the long vowel of Katakana. For the brackets of a pattern with the flag `u`.
 */
export const UNSPACED_LETTERS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3006\u3031-\u3035\u303C\u30FC\uFF70\uFF9E\uFF9F`;
/** One of them. */
export const UNSPACED = new RegExp(`[${UNSPACED_LETTERS}]`, 'u');
/** All of them are in these ranges: excludes most texts quickly. */
export const MAYBE_UNSPACED = /[\u0e00-\u1cff\u2e80-\uffff]/;
/** A word that mixes such a script with another, as in "API接口". Marks belong to the letter before. */
const RUNS = new RegExp(String.raw`[${UNSPACED_LETTERS}][${UNSPACED_LETTERS}\p{M}]*|[^${UNSPACED_LETTERS}]+`, 'gu');

/** A word, cut where its script changes to or from one without spaces. */
export const scriptRuns = (word: string): readonly string[] =>
  UNSPACED.test(word) ? (word.match(RUNS) ?? []) : [word];

/**
 * All pairs of neighbouring characters, which are searched instead of words in such scripts; a single character stays
 * as it is.
 */
export const neighbouringPairs = (run: string): readonly string[] => {
  const characters = [...run];
  return characters.length <= 1
    ? characters
    : characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

/** The words of a text, with pairs of letters for scripts without spaces. */
export const wordsOrPairs = (words: readonly string[]): readonly string[] =>
  words.flatMap(scriptRuns).flatMap((run) => (UNSPACED.test(run) ? neighbouringPairs(run) : [run]));
