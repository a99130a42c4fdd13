import { type Relaxed, relaxedInstructions } from './relaxed';
import type { Variable } from './wasm';

/** Columns that a matrix product works on at once: weights come in panels of so many. */
export const PANEL = 8;
/** Floats behind each other for a panel: scales of the columns, sums of their weights times these, biases. */
export const PANEL_FACTORS = 3 * PANEL;
/** Bytes of a float and of a vector. */
export const FLOAT = 4;
export const VECTOR = 16;

/** How matrix products are worked on. */
export interface Shape {
  /** Which instruction multiplies: fours of bytes, which not every machine has, or pairs of 16-bit integers. */
  readonly dot: 'fours' | 'pairs';
  /** Whether floats are multiplied and added at once. */
  readonly fused: boolean;
  /** What is multiplied by weights is rounded to 0 up to this; all its bits are set. */
  readonly levels: number;
  /** Rows of a matrix product are worked on in so many; those behind the last are read and written as well. */
  readonly rows: number;
  /** Weights of one column that lie behind each other. */
  readonly depth: 2 | 4;
  /** Bytes of a rounded value. */
  readonly bytes: 1 | 2;
}

/** As many rows as there are registers for: 6 x 2 sums, 2 weights and a value are 15. */
const FOURS = { dot: 'fours', levels: 255, rows: 6, depth: 4, bytes: 1 } as const;
const PAIRS = { dot: 'pairs', rows: 4, depth: 2, bytes: 2 } as const;

/** Sums of the two agree. */
export const fastest = (relaxed: Relaxed = relaxedInstructions()): Shape =>
  relaxed.dotUnsigned ? { ...FOURS, fused: true } : { ...PAIRS, fused: relaxed.multiplyAdd, levels: FOURS.levels };

/** Less than half as fast as the fastest, eight times finer. */
export const finest = (relaxed: Relaxed = relaxedInstructions()): Shape => ({
  ...PAIRS,
  fused: relaxed.multiplyAdd,
  levels: 2047,
});

export const variables = (count: number, make: () => Variable): Variable[] => Array.from({ length: count }, make);

/** As many variables as a function has, by their names. */
export type Several = [
  Variable,
  Variable,
  Variable,
  Variable,
  Variable,
  Variable,
  Variable,
  Variable,
  Variable,
  ...Variable[],
];
