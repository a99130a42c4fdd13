import { PART_END, type StreamPlace, isBehind } from './stream-place';
import { type Chunk, chunksOf, type StreamedMessage } from './ui-message-chunks';

/** How far a reader of an answer has come. */
export interface Heard {
  readonly place: StreamPlace;
  /** What was said until there, as a number (`saidWith`); absent in ids of earlier versions, which are believed. */
  readonly said?: number;
}

/** What is said before the first event, as a number. */
export const NOTHING_SAID = 0x811c9dc5;

/**
 * What was said until an event and with it, from what was said before: streams that said other words, or called other tools, have another
 * number (FNV-1a). It does not matter how the words were cut into events.
 */
export const saidWith = (before: number, chunk: Chunk): number => {
  if (typeof chunk === 'string') return before;
  const { type, delta, toolCallId } = chunk as Readonly<Record<string, string>>;
  switch (type) {
    case 'text-delta':
    case 'reasoning-delta':
      return hashed(before, delta ?? '');
    case 'text-start':
    case 'reasoning-start':
      return hashed(before, `\0${type}`);
    case 'tool-input-available':
      return hashed(before, `\0${type} ${toolCallId}`);
    default:
      return before;
  }
};

const hashed = (before: number, text: string): number => {
  let hash = before;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
};

/** What a message says until a place and with it; undefined where it has not come to that place. */
export const saidUntil = (message: StreamedMessage, until: StreamPlace): number | undefined => {
  let said = NOTHING_SAID;
  for (const { place, chunk } of chunksOf(message)) {
    if (!isBehind(place, until)) {
      said = saidWith(said, chunk);
      if (isBehind(until, place)) continue;
      return said;
    }
    const isWithin = place.step === until.step && place.part === until.part && place.offset < PART_END;
    if (!isWithin || typeof chunk === 'string') return said;
    const { delta } = chunk;
    // Only the end of these words is behind it.
    return typeof delta === 'string' ? saidWith(said, { ...chunk, delta: delta.slice(0, until.offset) }) : said;
  }
  return undefined;
};
