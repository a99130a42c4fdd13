import type { ReasoningPart, TextPart } from './message-parts';

type Words = TextPart | ReasoningPart;

/** How words came to be what they are. */
interface Growth {
  /** The same for all that grew one from the other, which begin alike; `length` is that of the longest. */
  readonly of: { length: number };
  /** Their last characters, and where those begin. */
  readonly end: string;
  readonly from: number;
  /** What was said last. */
  readonly piece: string;
}

/** Characters of the end that are kept at least: more than is said between two saves of an answer. */
const KEPT = 1_024;

/**
 * A string that was made by adding is copied whole when a piece of it is taken: of an answer that grows, for each piece. So its end is
 * kept beside it. Not in the parts: words are what they say, however they came to be.
 */
const growths = new WeakMap<Words, Growth>();

/** The words with more behind them. */
export const grown = (words: Words, more: string): Words => {
  const { type, text } = words;
  const before = growths.get(words);
  // Words that went on already go on in another way now.
  const isLongest = before?.of.length === text.length;
  const of = isLongest ? before.of : { length: 0 };
  of.length = text.length + more.length;
  const end = (isLongest ? before.end : '') + more;
  const cut = end.length > 2 * KEPT ? end.length - KEPT : 0;
  const next: Words = { type, text: text + more };
  growths.set(next, { of, end: cut === 0 ? end : end.slice(cut), from: of.length - end.length + cut, piece: more });
  return next;
};

/** Whether words begin with all of others. */
export const goesOn = (before: Words, after: Words): boolean => {
  const growth = growths.get(after);
  if (growth !== undefined && growth.of === growths.get(before)?.of) return before.text.length <= after.text.length;
  return after.type === before.type && after.text.startsWith(before.text);
};

/** The text of words behind so many characters. */
export const textBehind = (words: Words, offset: number): string => {
  const growth = growths.get(words);
  if (growth === undefined || offset < growth.from) return words.text.slice(offset);
  if (offset === words.text.length - growth.piece.length) return growth.piece;
  return growth.end.slice(offset - growth.from);
};
