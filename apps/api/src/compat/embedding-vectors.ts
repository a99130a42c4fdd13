import { endianness } from 'node:os';
import type { Vector } from '@app/models';
import type { Fields } from './checks';

/** What a client gets: base64 is what the official clients ask for. */
export type Encoding = 'float' | 'base64';

const isLittleEndian = endianness() === 'LE';

/** A vector as the client wants it, cut to its first `dimensions` numbers. */
export const encoded = (
  vector: Vector,
  encoding: Encoding,
  dimensions: number | undefined,
): string | readonly number[] => {
  const cut = dimensions !== undefined && dimensions < vector.length ? vector.slice(0, dimensions) : vector;
  if (encoding === 'float') return cut instanceof Float32Array ? Array.from(cut) : cut;
  return base64Of(cut instanceof Float32Array ? cut : new Float32Array(cut));
};

const base64Of = (floats: Float32Array): string => {
  const bytes = Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength);
  return (isLittleEndian ? bytes : Buffer.from(bytes).swap32()).toString('base64');
};

/** Members of the answer's `data`. */
export const embeddingObjects = (
  vectors: readonly Vector[],
  encoding: Encoding,
  dimensions: number | undefined,
): readonly Fields[] =>
  vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding, dimensions) }));
