import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { MAYBE_UNSPACED, wordsOrPairs } from '@app/kernel/threads';

/** A text file of a Skill. */
export interface SearchedText {
  readonly path: string;
  readonly text: string;
}

export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Lines that a search gives at most, characters of each, and words that it looks for. */
const MOST_LINES = 20;
const MOST_CHARACTERS = 500;
const MOST_WORDS = 16;
/** Bytes that one search reads; what comes behind them is not looked at. */
const MOST_BYTES = 32 * 1024 ** 2;
/** Lines that are looked at before others have a turn. */
const LINES_AT_ONCE = 2_000;

/** Whether a file can be searched and read as text. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** The words of a text, as they are compared. */
export const wordsOf = (text: string): readonly string[] => [...new Set(wordsOfLine(text))].slice(0, MOST_WORDS);

/**
 * The lines with most of the words, best first: a word that stands in fewer lines counts for more, as in BM25. Lines are found
 * by whole words and their beginnings.
 */
export const matchesIn = async (
  texts: AsyncIterable<SearchedText>,
  words: readonly string[],
): Promise<readonly FoundLine[]> => {
  const found: (FoundLine & { readonly words: readonly number[] })[] = [];
  const linesWith = words.map(() => 0);
  let lines = 0;
  let bytes = 0;
  for await (const { path, text } of texts) {
    if ((bytes += text.length) > MOST_BYTES) break;
    for (const [index, line] of text.split('\n').entries()) {
      if ((lines += 1) % LINES_AT_ONCE === 0) await turn();
      const shown = line.trim().slice(0, MOST_CHARACTERS);
      const held = wordsOfLine(shown);
      const matched = words.flatMap((word, at) => (held.some((other) => other.startsWith(word)) ? [at] : []));
      for (const at of matched) linesWith[at] = (linesWith[at] ?? 0) + 1;
      if (matched.length > 0) found.push({ path, line: index + 1, text: shown, words: matched });
    }
  }
  const weight = (matched: readonly number[]): number =>
    matched.reduce((sum, at) => sum + Math.log(1 + lines / (1 + (linesWith[at] ?? 0))), 0);
  return found
    .map(({ words: matched, ...line }) => ({ line, score: weight(matched) }))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_LINES)
    .map(({ line }) => line);
};

/** In scripts without spaces, every two neighbouring letters. */
const wordsOfLine = (line: string): readonly string[] => {
  const small = line.normalize('NFKC').toLowerCase();
  const words = small.match(/[\p{L}\p{N}]+/gu) ?? [];
  return MAYBE_UNSPACED.test(small) ? wordsOrPairs(words) : words;
};
