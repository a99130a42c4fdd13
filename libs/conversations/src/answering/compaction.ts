import { TokenCount } from '@app/kernel';
import type { Boundary } from '../conversation/checkpoint.events';
import type { MessagePart } from '../conversation/message-parts';
import { tokensOf } from './branch-context';
import { imageTokensIn, type SaidMessage } from './said-message';
import { noteOf, wordsOf } from './shown-parts';

/** Fewer tokens of a message are not worth a cut in it. */
const LEAST_TOKENS = 48;
/** Most characters per token, about: text that is further from the end need not be counted. */
const OF_TOKEN = 8;

/**
 * The place to cut a branch so that about `keep` tokens stay verbatim: at a message, at one of its parts, or at the end
 * of a paragraph, a sentence or a word. A tool call and its result are one part, so no cut separates them. The newest
 * message is never cut. Undefined if there is nothing to summarise.
 */
export const boundaryFor = async (
  newestFirst: readonly SaidMessage[],
  keep: number,
  seesImages = false,
): Promise<Boundary | undefined> => {
  let room = keep;
  for (const [index, message] of newestFirst.entries()) {
    const tokens = await tokensOf(message, seesImages);
    if (index > 0 && tokens > room) {
      const cut = cutIn(message, room, seesImages);
      return cut ?? beginningOf(newestFirst[index - 1] as SaidMessage);
    }
    room -= tokens;
  }
  return undefined;
};

/** The boundary before a message, so that all of it is kept. */
export const beginningOf = ({ messageId, from }: SaidMessage): Boundary => ({ messageId, ...from });

/** A cut that leaves at most this many tokens of a message; undefined if that would be almost nothing. */
const cutIn = (message: SaidMessage, most: number, seesImages: boolean): Boundary | undefined => {
  let room = most;
  for (let index = message.parts.length - 1; index >= 0; index -= 1) {
    const part = message.parts[index] as MessagePart;
    const text = wordsOf(part);
    const tail = text.slice(-Math.max(1, room) * OF_TOKEN);
    const count = new TokenCount(tail);
    const tokens = count.total + (seesImages ? imageTokensIn([part]) : 0);
    if (tail.length === text.length && tokens <= room) {
      room -= tokens;
      continue;
    }
    const isFirst = index === 0;
    const offset = part.type === 'text' && room >= LEAST_TOKENS ? tailWithin(text, tail, count, room) : text.length;
    const place =
      offset < text.length
        ? { part: message.from.part + index, offset: offset + (isFirst ? message.from.offset : 0) }
        : { part: message.from.part + index + 1, offset: 0 };
    return message.after(place).isEmpty ? undefined : { messageId: message.messageId, ...place };
  }
  return undefined;
};

/**
 * The start of the end of a text with at most this many tokens: at a paragraph if one is near, or else at a sentence,
 * or else at a word.
 */
const tailWithin = (text: string, tail: string, count: TokenCount, room: number): number => {
  let [low, high] = [0, tail.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (count.between(middle, tail.length) <= room) high = middle;
    else low = middle + 1;
  }
  const kept = tail.slice(low);
  const breaks = [/\n\s*\n\s*/, /(?<=[.!?])\s+/, /\s+/].map((pattern) => pattern.exec(kept));
  const near = breaks.find((found) => found !== null && found.index < kept.length / 2);
  const at = low + (near ? near.index + near[0].length : 0);
  // Half of a character is none.
  const isHalf = /^[\uDC00-\uDFFF]/.test(tail.slice(at));
  return text.length - tail.length + at + (isHalf ? 1 : 0);
};

/** A branch as text, for a model that summarises it: attachments are represented by a note. */
export const transcriptOf = (messages: readonly SaidMessage[]): readonly string[] =>
  messages.flatMap(({ role, parts }) => {
    const words = parts
      .map((part) => (part.type === 'file' ? noteOf(part) : wordsOf(part)))
      .filter((text) => text !== '');
    return words.length === 0 ? [] : [`${role === 'user' ? 'User' : 'Assistant'}: ${words.join('\n\n')}`];
  });

/** Texts joined to pieces of at most so many characters; a longer one is cut. */
export const piecesOf = (texts: readonly string[], most: number): readonly string[] => {
  const pieces: string[] = [];
  for (const text of texts) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + text.length + 2 <= most) pieces[pieces.length - 1] = `${last}\n\n${text}`;
    else for (let from = 0; from < text.length; from += most) pieces.push(text.slice(from, from + most).toWellFormed());
  }
  return pieces;
};
