import type { Pooling } from './sentence-transformer';

/** A tensor as the package gives it: all numbers in one array, row by row. */
export interface Tensor {
  readonly dims: readonly number[];
  readonly data: ArrayLike<number> | ArrayLike<bigint>;
}

/**
 * One vector a text from those of its tokens: `states` of the shape [texts, tokens, dimensions] and `mask` of [texts, tokens], where
 * 0 stands for padding, which counts nowhere. An export that pools itself has [texts, dimensions], and is taken as it is.
 */
export const pooled = (states: Tensor, mask: Tensor, pooling: Pooling): readonly Float32Array[] => {
  const { data, dims } = states;
  if (!(data instanceof Float32Array) || dims.length < 2 || dims.length > 3)
    throw new Error('the model gives no float32 vectors of texts or tokens');
  const dimensions = dims.at(-1) as number;
  const tokens = dims.length === 3 ? (dims[1] as number) : 1;
  return Array.from({ length: dims[0] as number }, (_, text) => {
    const rows = Array.from({ length: tokens }, (__, token) => text * tokens + token);
    const real = dims.length === 3 ? rows.filter((row) => Number(mask.data[row]) !== 0) : rows;
    const vectors = real.map((row) => data.subarray(row * dimensions, (row + 1) * dimensions));
    return together(vectors, pooling, dimensions);
  });
};

const together = (vectors: readonly Float32Array[], pooling: Pooling, dimensions: number): Float32Array => {
  const [first] = vectors;
  if (first === undefined) return new Float32Array(dimensions);
  if (pooling === 'cls' || vectors.length === 1) return Float32Array.from(first);
  const result = new Float32Array(dimensions).fill(pooling === 'max' ? -Infinity : 0);
  for (const vector of vectors)
    for (let index = 0; index < dimensions; index += 1) {
      const value = vector[index] as number;
      const before = result[index] as number;
      result[index] = pooling === 'max' ? Math.max(before, value) : before + value / vectors.length;
    }
  return result;
};

/** A vector of length one; one of zeros stays. */
export const normalized = (vector: Float32Array): Float32Array => {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
};
