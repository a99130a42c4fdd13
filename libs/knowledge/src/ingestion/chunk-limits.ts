import type { Chunking } from '@app/kernel';
import { TokenCount } from '@app/kernel/threads';

/** Most words in a chunk by default: measured best for the small embedding model, which reads no more. */
export const MAX_WORDS = 100;
/** Most characters in such a chunk, for texts whose words have no end. */
export const MAX_CHARACTERS = 1_500;

/** A part of a text: `text.slice(start, end)`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How much of a text goes into a chunk. */
export interface ChunkLimits {
  /** Whether it fits into one chunk. */
  chunk(span: Span): boolean;
  /** Whether it fits into one chunk beside what the chunk repeats of the one before. */
  piece(span: Span): boolean;
  /** Whether a chunk may repeat it from the previous one; null if it repeats nothing. */
  readonly overlap: ((span: Span) => boolean) | null;
  /** The words of a part that fits no chunk, each short enough to fit. */
  words(span: Span): readonly Span[];
}

/** `chunking` null: the limits that the product has by itself, in words and without overlap. */
export const chunkLimits = (text: string, chunking: Chunking | null): ChunkLimits =>
  chunking === null ? inWords(text) : inTokens(text, chunking, new TokenCount(text));

const inWords = (text: string): ChunkLimits => {
  const fits = ({ start, end }: Span): boolean =>
    end - start <= MAX_CHARACTERS && wordCount(text.slice(start, end)) <= MAX_WORDS;
  return { chunk: fits, piece: fits, overlap: null, words: (span) => matches(text, span, /\S{1,500}/gu) };
};

/** Twelve characters have at most 48 tokens, and 50 is the least that a chunk may have. */
const SHORT = /\S{1,12}/gu;

/** Most characters per token, so that a chunk of white space ends too. */
const CHARACTERS_OF_TOKEN = 20;

const inTokens = (text: string, { maxTokens, overlapTokens }: Chunking, tokens: TokenCount): ChunkLimits => {
  const within =
    (most: number) =>
    ({ start, end }: Span): boolean =>
      end - start <= most * CHARACTERS_OF_TOKEN && tokens.between(start, end) <= most;
  const piece = within(maxTokens - overlapTokens);
  return {
    chunk: within(maxTokens),
    piece,
    overlap: overlapTokens === 0 ? null : within(overlapTokens),
    words: (span) =>
      matches(text, span, /\S{1,500}/gu).flatMap((word) => (piece(word) ? [word] : matches(text, word, SHORT))),
  };
};

const matches = (text: string, { start, end }: Span, words: RegExp): readonly Span[] =>
  Array.from(text.slice(start, end).matchAll(words), ({ index, 0: word }) => ({
    start: start + index,
    end: start + index + word.length,
  }));

const wordCount = (text: string): number => text.match(/\S+/g)?.length ?? 0;
