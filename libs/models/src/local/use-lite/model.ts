/** Length of a vector. */
export const DIMENSIONS = 512;
/** Tokens behind this are not seen by the model. */
export const MAX_TOKENS = 128;
export const EMBEDDING_WIDTH = 256;
export const HEADS = 4;
export const HIDDEN = 1536;
const PIECES = 8002;

/** Matrices of 8-bit integers, row by row, with a scale and a bias for each column: rows and columns. */
export const MATRICES = {
  'attention-0': [EMBEDDING_WIDTH, 3 * EMBEDDING_WIDTH],
  'attended-0': [EMBEDDING_WIDTH, DIMENSIONS],
  'residual-0': [EMBEDDING_WIDTH, DIMENSIONS],
  'widening-0': [DIMENSIONS, HIDDEN],
  'narrowing-0': [HIDDEN, DIMENSIONS],
  'attention-1': [DIMENSIONS, 3 * DIMENSIONS],
  'attended-1': [DIMENSIONS, DIMENSIONS],
  'widening-1': [DIMENSIONS, HIDDEN],
} as const;
export type MatrixName = keyof typeof MATRICES;

/** Arrays of floats: how many. */
const FLOATS = {
  pieces: PIECES * EMBEDDING_WIDTH,
  frequencies: EMBEDDING_WIDTH / 2,
  'attention-0-scale': EMBEDDING_WIDTH,
  'attention-0-shift': EMBEDDING_WIDTH,
  'widening-0-scale': DIMENSIONS,
  'widening-0-shift': DIMENSIONS,
  'attention-1-scale': DIMENSIONS,
  'attention-1-shift': DIMENSIONS,
  'widening-1-scale': DIMENSIONS,
  'widening-1-shift': DIMENSIONS,
  'narrowing-1': HIDDEN * DIMENSIONS,
  'narrowing-1-bias': DIMENSIONS,
  last: DIMENSIONS * DIMENSIONS,
  'last-bias': DIMENSIONS,
} as const;
export type FloatsName = keyof typeof FLOATS;

export interface Matrix {
  readonly values: Int8Array;
  readonly scales: Float32Array;
  readonly biases: Float32Array;
}

/** The encoder's weights, as they are used. */
export interface Model {
  readonly matrices: Readonly<Record<MatrixName, Matrix>>;
  readonly floats: Readonly<Record<FloatsName, Float32Array>>;
}

/** A model over one array, empty if none is given: everything behind each other. An array of another length is rejected. */
export const modelIn = (bytes?: Uint8Array<ArrayBuffer>): Model & { readonly bytes: Uint8Array<ArrayBuffer> } => {
  const body = bytes ?? new Uint8Array(SIZE);
  if (body.length !== SIZE) throw new Error('the local embedding model has another size');
  let offset = body.byteOffset;
  const taken = (size: number): number => (offset += size) - size;
  const floats = (length: number): Float32Array => new Float32Array(body.buffer, taken(4 * length), length);
  return {
    bytes: body,
    floats: mapped(FLOATS, floats),
    matrices: mapped(MATRICES, ([rows, columns]) => ({
      values: new Int8Array(body.buffer, taken(rows * columns), rows * columns),
      scales: floats(columns),
      biases: floats(columns),
    })),
  };
};

const mapped = <K extends string, V, R>(values: Readonly<Record<K, V>>, map: (value: V) => R): Record<K, R> =>
  Object.fromEntries((Object.entries(values) as [K, V][]).map(([key, value]) => [key, map(value)])) as Record<K, R>;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const SIZE =
  4 * sum(Object.values(FLOATS)) + sum(Object.values(MATRICES).map(([rows, columns]) => rows * columns + 8 * columns));
