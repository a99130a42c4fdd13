import { PART_END, type StreamPlace, isBehind } from './stream-place';
import { type Chunk, chunksOf, type StreamedMessage } from './ui-message-chunks';

/** How far a reader of an answer has come. */
export interface ResumePoint {
  readonly place: StreamPlace;
  /** Of what was said until there (`digestWith`); absent in ids of earlier versions, which are believed. */
  readonly digest?: number;
}

/** The digest before the first event. */
export const EMPTY_DIGEST = 0x811c9dc5;

/**
 * The digest up to and with an event, from that before it (FNV-1a): streams that said other words, or called other tools, have another
 * one. It does not matter how the words were cut into events.
 */
export const digestWith = (before: number, chunk: Chunk): number => {
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

/** The digest of a message up to and with a place; undefined where it has not come to that place. */
export const digestUntil = (message: StreamedMessage, until: StreamPlace): number | undefined => {
  let digest = EMPTY_DIGEST;
  for (const { place, chunk } of chunksOf(message)) {
    if (!isBehind(place, until)) {
      digest = digestWith(digest, chunk);
      if (isBehind(until, place)) continue;
      return digest;
    }
    const isWithin = place.step === until.step && place.part === until.part && place.offset < PART_END;
    if (!isWithin || typeof chunk === 'string') return digest;
    const { delta } = chunk;
    // Only the end of these words is behind it.
    return typeof delta === 'string' ? digestWith(digest, { ...chunk, delta: delta.slice(0, until.offset) }) : digest;
  }
  return undefined;
};
