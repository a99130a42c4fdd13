import {
  blocksOf,
  type Extraction,
  ExtractionFailure,
  formatOf,
  plainText,
  type SourceFile,
} from '@app/extraction/threads';
import type { Chunking } from '@app/kernel';
import { countTokens } from '@app/kernel/threads';
import { chunksOf, type Chunk } from './chunk';
import { chunkLimits, MAX_CHARACTERS, MAX_WORDS } from './chunk-limits';
import { IngestionFailure } from './ingestion-failure';

/** More would make a document too large for one search result, and blobs too large for any process. */
const MAX_CHUNKS = 20_000;
/** More lines than if each allowed word had a line and an empty line: each line costs memory while a text is cut. */
const MAX_LINES = 2 * MAX_CHUNKS * MAX_WORDS;

const TAB = 9;
const LINE_END = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const HASH = 35;

export interface ReadDocument {
  readonly text: string;
  readonly chunks: readonly Chunk[];
  /** Tokens of the text. */
  readonly tokenCount: number;
  /** How long the two steps took. */
  readonly milliseconds: { readonly parse: number; readonly chunk: number };
}

/** A file of plain text, or what the parser process made of another, as JSON. */
export type Source = { readonly file: SourceFile } | { readonly extraction: Buffer };

/** The steps parse and chunk, of what needs no parser any more. Throws `IngestionFailure`. */
export const readDocument = (source: Source, chunking: Chunking | null): ReadDocument => {
  const begun = performance.now();
  const { text, blocks } = 'file' in source ? readText(source.file) : readExtraction(source.extraction);
  const parsed = performance.now();
  const chunks = chunksOf({ text, blocks }, chunkLimits(text, chunking));
  if (chunks.length === 0) throw new IngestionFailure('empty_document');
  if (chunks.length > MAX_CHUNKS) throw new IngestionFailure('too_many_passages');
  return {
    text,
    chunks,
    tokenCount: countTokens(text),
    milliseconds: { parse: Math.round(parsed - begun), chunk: Math.round(performance.now() - parsed) },
  };
};

const readText = (file: SourceFile): Extraction => {
  try {
    const format = formatOf(file);
    const text = plainText(file);
    if (isTooLong(text, format === 'markdown')) throw new IngestionFailure('too_many_passages');
    return { text, blocks: blocksOf(text, format) };
  } catch (error) {
    throw error instanceof ExtractionFailure ? new IngestionFailure(error.code) : error;
  }
};

const readExtraction = (json: Buffer): Extraction => {
  const extraction = JSON.parse(json.toString('utf8')) as Extraction;
  if (isTooLong(extraction.text, false)) throw new IngestionFailure('too_many_passages');
  return extraction;
};

/**
 * Whether a text has more words, characters or lines than fit into `MAX_CHUNKS`, however it is cut. Checked first,
 * character by character: the pieces of 95 MB of short sentences take five gigabytes. Possible headings do not count,
 * because chunks do not contain them.
 */
const isTooLong = (text: string, isMarkdown: boolean): boolean => {
  let lines = 1;
  let words = 0;
  let characters = 0;
  let isHeading = false;
  let isLineBegun = false;
  let isWordBegun = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === LINE_END) {
      lines += 1;
      isLineBegun = isHeading = isWordBegun = false;
    } else if (code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)) isWordBegun = false;
    else {
      if (!isLineBegun) isHeading = isMarkdown && code === HASH;
      isLineBegun = true;
      if (isHeading) continue;
      characters += 1;
      if (!isWordBegun) words += 1;
      isWordBegun = true;
    }
  }
  return lines > MAX_LINES || words > MAX_CHUNKS * MAX_WORDS || characters > MAX_CHUNKS * MAX_CHARACTERS;
};
