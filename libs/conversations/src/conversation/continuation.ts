import { isDeepStrictEqual } from 'node:util';
import { goesOn, textBehind } from './growing-words';
import type { MessagePart, ReasoningPart, TextPart } from './message-parts';

/**
 * The new parts of a message: they replace everything from `part` on, except the first `offset` characters of that
 * part.
 */
export interface Continuation {
  /** Index of the first part that changed. */
  readonly part: number;
  /** Of a text or reasoning that went on: characters before what is new. Otherwise 0. */
  readonly offset: number;
  readonly parts: readonly MessagePart[];
}

/** The parts with a continuation. If it would leave a gap or is already included, the same parts are returned. */
export const continued = (
  before: readonly MessagePart[],
  { part, offset, parts }: Continuation,
): readonly MessagePart[] => {
  const last = before[part];
  const [first, ...rest] = parts;
  if (part > before.length || first === undefined) return before;
  if (offset === 0) return changed(before, [...before.slice(0, part), ...parts]);
  if (!isWords(last) || !isWords(first) || last.type !== first.type || offset > last.text.length) return before;
  const text = last.text.slice(0, offset) + first.text;
  return changed(before, [...before.slice(0, part), { ...last, text }, ...rest]);
};

const changed = (before: readonly MessagePart[], after: readonly MessagePart[]): readonly MessagePart[] =>
  isSame(before, after) ? before : after;

/** What makes `after` of `before`; undefined where nothing changed. */
export const continuationOf = (
  before: readonly MessagePart[],
  after: readonly MessagePart[],
): Continuation | undefined => {
  const part = after.findIndex((each, index) => !isSamePart(each, before[index]));
  const first = after[part];
  if (first === undefined) return undefined;
  const last = before[part];
  if (!isWords(first) || !isWords(last) || last.text === '' || !goesOn(last, first))
    return { part, offset: 0, parts: after.slice(part) };
  const offset = last.text.length;
  return { part, offset, parts: [{ ...first, text: textBehind(first, offset) }, ...after.slice(part + 1)] };
};

/** Whether words of `before` are missing in `after` at the same place: a reader who got them cannot continue. */
export const takesBack = (before: readonly MessagePart[], after: readonly MessagePart[]): boolean => {
  const more = continuationOf(before, after);
  const part = before[more?.part ?? before.length];
  return more?.offset === 0 && isWords(part) && part.text !== '';
};

const isWords = (part: MessagePart | undefined): part is TextPart | ReasoningPart =>
  part?.type === 'text' || part?.type === 'reasoning';

const isSame = (a: readonly MessagePart[], b: readonly MessagePart[]): boolean =>
  a.length === b.length && a.every((part, index) => isSamePart(part, b[index]));

const isSamePart = (a: MessagePart, b: MessagePart | undefined): boolean =>
  a === b || (isWords(a) && isWords(b) ? a.type === b.type && a.text === b.text : isDeepStrictEqual(a, b));
