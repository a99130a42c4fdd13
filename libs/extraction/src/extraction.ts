import type { Place } from '@app/kernel';

/** A run of text that belongs together, by character offsets (end exclusive). Blocks stand in order and do not overlap. */
export interface Block {
  readonly kind: 'heading' | 'prose' | 'lines';
  readonly start: number;
  readonly end: number;
  /** Of a heading: 1 to 6, and its words. */
  readonly level?: number;
  readonly title?: string;
  /** Where it stands in the file, in formats that have places. Nothing that is cited together is of two places. */
  readonly place?: Place;
}

/** What is in a file: its text, and the blocks of it. Offsets of passages count in the characters of `text`. */
export interface Extraction {
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** A file as it was given. Its name and type may lie: the bytes decide. */
export interface SourceFile {
  readonly name: string;
  readonly mimeType: string;
  readonly body: Buffer;
}

/** What reading one file may take. */
export interface ParserLimits {
  /** Memory of the process that reads it, MiB. */
  readonly memoryMb: number;
  readonly seconds: number;
  /** What all that is compressed in it may inflate to together, bytes. */
  readonly inflatedBytes: number;
}

const CODES = [
  'unsupported_type',
  'invalid_text',
  'empty_document',
  'no_text',
  'encrypted',
  'malformed',
  'too_many_passages',
  'inflates_too_far',
  'timed_out',
  'out_of_memory',
] as const;

/** Why a file has no extraction; stable. */
export type ExtractionFailureCode = (typeof CODES)[number];

export const isExtractionFailureCode = (code: string): code is ExtractionFailureCode =>
  (CODES as readonly string[]).includes(code);

/** The file is the reason that it cannot be read; another attempt would end alike. */
export class ExtractionFailure extends Error {
  override readonly name = 'ExtractionFailure';

  constructor(readonly code: ExtractionFailureCode) {
    super(code);
  }
}

/** Ends the reading of a file. */
export const fail = (code: ExtractionFailureCode): never => {
  throw new ExtractionFailure(code);
};
