import type { MessagePart } from '../conversation/message-parts';

/**
 * Most bytes of an answer's parts, as JSON. They are stored encrypted, in one event with the provenance of the answer:
 * more does not fit.
 */
export const MOST_ANSWER_BYTES = 600_000;

/** What a value takes as JSON, bytes. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** As much of the beginning of a text as takes so many bytes as JSON. */
export const beginningWithin = (text: string, most: number): string => {
  let cut = text;
  for (let bytes = bytesOf(cut); bytes > most && cut !== ''; bytes = bytesOf(cut))
    cut = cut.slice(0, Math.floor((cut.length * Math.max(0, most)) / bytes)).toWellFormed();
  return cut;
};

/** The parts of an answer that fit, from the beginning, and the beginning of the first text that does not fit. */
export const partsWithin = (parts: readonly MessagePart[], most = MOST_ANSWER_BYTES): readonly MessagePart[] => {
  let room = most;
  const kept: MessagePart[] = [];
  for (const part of parts) {
    const bytes = bytesOf(part);
    if (bytes <= room) kept.push(part);
    else {
      if (part.type === 'text' || part.type === 'reasoning')
        kept.push({ ...part, text: beginningWithin(part.text, room - bytesOf({ ...part, text: '' })) });
      break;
    }
    room -= bytes;
  }
  return kept;
};
