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
