import { GatheredText } from '@app/kernel';
import type { ReasoningPart, TextPart } from './message-parts';

type Words = TextPart | ReasoningPart;

/** Most characters of the end that can be read: more than is said between two saves of an answer. */
const KEPT = 1_024;

/**
 * The growing text of which the words are the beginning. Separate from the parts: equal words are equal, however they
 * were made.
 */
const growths = new WeakMap<Words, GatheredText>();

/** The words with more at the end. */
export const grown = (words: Words, more: string): Words => {
  const { type, text } = words;
  const before = growths.get(words);
  // Words that went on already go on in another way now.
  const growth = before?.length === text.length ? before : new GatheredText(text, KEPT);
  growth.add(more);
  const next: Words = { type, text: growth.text };
  growths.set(next, growth);
  return next;
};

/** Whether words begin with all of others. */
export const goesOn = (before: Words, after: Words): boolean => {
  const growth = growths.get(after);
  if (growth !== undefined && growth === growths.get(before)) return before.text.length <= after.text.length;
  return after.type === before.type && after.text.startsWith(before.text);
};

/** The text after this many characters: for growing words, without copying all of them. */
export const textBehind = (words: Words, offset: number): string => {
  const { text } = words;
  return growths.get(words)?.slice(offset, text.length) ?? text.slice(offset);
};
