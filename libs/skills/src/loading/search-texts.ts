import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { MAYBE_UNSPACED, wordsOrPairs } from '@app/kernel/threads';

/** A file of a Skill that is searched. */
export interface SearchedFile {
  readonly path: string;
  /** Its text; undefined where it is none. */
  read(): Promise<string | undefined>;
}

export interface FoundLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** The line; of a long one the piece that has the words. */
  readonly text: string;
}

/** Lines that a search gives at most, characters of each, and words that it looks for. */
const MOST_LINES = 20;
const MOST_CHARACTERS = 500;
const MOST_WORDS = 16;
/** A long line is cut at the last space among so many characters, or anywhere; then the next piece has as many of them again. */
const SPACED = 100;
const REPEATED = 32;
/** Characters that one search reads; what comes behind them is not looked at. */
const MOST_READ = 32 * 1024 ** 2;
/** Lines that are looked at before others have a turn. */
const LINES_AT_ONCE = 2_000;
/** Tells places in one file from those in another. */
const FILE = 2 ** 32;

/** Whether a file can be searched and read as text. */
export const isText = (bytes: Buffer): boolean => isUtf8(bytes) && !bytes.includes(0);

/** The words of a text, as they are compared. */
export const wordsOf = (text: string): readonly string[] =>
  [...new Set(wordsIn(asCompared(text)))].slice(0, MOST_WORDS);

/**
 * The lines with most of the words, best first: a word that stands in fewer lines counts for more, as in BM25. Lines are found
 * by whole words and their beginnings; a long line is several of them. Holds little beside one file, however many lines have the words.
 */
export const matchesIn = async (
  files: readonly SearchedFile[],
  words: readonly string[],
): Promise<readonly FoundLine[]> => {
  /** Of the lines that have the same words the first ones: no other of them can be among the best. */
  const first = new Map<number, number[]>();
  const linesWith = words.map(() => 0);
  let [lines, read] = [0, 0];
  for (const [nth, file] of files.entries()) {
    const text = (await file.read()) ?? '';
    if ((read += text.length) > MOST_READ) break;
    for (const { from, to } of piecesOf(text)) {
      if ((lines += 1) % LINES_AT_ONCE === 0) await turn();
      const matched = matchedIn(text.slice(from, to), words);
      if (matched === 0) continue;
      for (const at of words.keys()) linesWith[at] = (linesWith[at] ?? 0) + ((matched >> at) & 1);
      const places = first.get(matched) ?? [];
      if (places.length === 0) first.set(matched, places);
      if (places.length < MOST_LINES) places.push(nth * FILE + from);
    }
  }
  const weights = linesWith.map((having) => Math.log(1 + lines / (1 + having)));
  let best: { readonly place: number; readonly weight: number }[] = [];
  for (const [matched, places] of first) {
    const weight = weights.reduce((sum, each, at) => sum + ((matched >> at) & 1) * each, 0);
    if (best.length === MOST_LINES && weight < (best.at(-1)?.weight ?? 0)) continue;
    best.push(...places.map((place) => ({ place, weight })));
    best = best.toSorted((a, b) => b.weight - a.weight || a.place - b.place).slice(0, MOST_LINES);
  }
  return foundAt(
    files,
    best.map(({ place }) => place),
  );
};

/** Lines at places, in their order; files are read again for it. */
const foundAt = async (files: readonly SearchedFile[], places: readonly number[]): Promise<readonly FoundLine[]> => {
  const found = new Map<number, FoundLine>();
  for (const [nth, within] of Map.groupBy(places, (place) => Math.floor(place / FILE))) {
    const file = files[nth] as SearchedFile;
    const text = (await file.read()) ?? '';
    for (const place of within) {
      const from = place % FILE;
      const to = endOf(text, from, lineEnd(text, from));
      found.set(place, { path: file.path, line: lineAt(text, from), text: text.slice(from, to).trim() });
    }
  }
  return places.flatMap((place) => found.get(place) ?? []);
};

/** The lines, and the pieces of long ones. */
function* piecesOf(text: string): Generator<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < text.length;) {
    const end = lineEnd(text, from);
    while (from < end) {
      const to = endOf(text, from, end);
      yield { from, to };
      // A long line without a space may be cut within a word.
      from = to === end || isSpace(text[to]) ? to : wholeAt(text, to - REPEATED);
    }
    from = end + 1;
  }
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
};

/** Where the piece that begins at a place ends, in a line that ends at another. */
const endOf = (text: string, from: number, end: number): number => {
  const most = from + MOST_CHARACTERS;
  if (end <= most) return end;
  for (let at = most; at > most - SPACED; at -= 1) if (isSpace(text[at])) return at;
  return wholeAt(text, most);
};

const isSpace = (letter: string | undefined): boolean => letter !== undefined && letter.trim() === '';

/** Not within a letter of two units. */
const wholeAt = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text[at] ?? '') && /[\ud800-\udbff]/.test(text[at - 1] ?? '') ? at - 1 : at;

const lineAt = (text: string, at: number): number => {
  let line = 1;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
  return line;
};

/** Which of the words a line has, as bits. */
const matchedIn = (line: string, words: readonly string[]): number => {
  const small = asCompared(line);
  if (!words.some((word) => small.includes(word))) return 0;
  const held = wordsIn(small);
  return words.reduce((bits, word, at) => (held.some((other) => other.startsWith(word)) ? bits | (1 << at) : bits), 0);
};

const asCompared = (text: string): string => text.normalize('NFKC').toLowerCase();

/** In scripts without spaces, every two neighbouring letters. */
const wordsIn = (small: string): readonly string[] => {
  const words = small.match(/[\p{L}\p{N}]+/gu) ?? [];
  return MAYBE_UNSPACED.test(small) ? wordsOrPairs(words) : words;
};
