import { endianness } from 'node:os';
import { UpstreamFailure } from '@app/models';
import { type Fields, isFields } from './checks';

/** A vector as a provider gave it: numbers, that came as such or as base64 of float32 little endian. */
export type GivenVector = readonly number[] | Float32Array;

/** What a client gets: base64 is what the official clients ask for. */
export type Encoding = 'float' | 'base64';

const BYTES = Float32Array.BYTES_PER_ELEMENT;
/** What is larger is infinite as base64, and no part of a vector. */
const LARGEST = 3.4028234663852886e38;
const isLittleEndian = endianness() === 'LE';

/**
 * The vectors of a provider's answer in the order of the inputs. Throws `UpstreamFailure` unless there is one for each, all as long,
 * of numbers alone: as long as this is not known, the provider may be asked again, or another one.
 */
export const vectorsIn = (answer: unknown, count: number): readonly GivenVector[] => {
  const data = isFields(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== count) throw new UpstreamFailure('broken');
  const vectors: GivenVector[] = [];
  for (const entry of data as unknown[]) {
    if (!isFields(entry)) throw new UpstreamFailure('broken');
    const { index, embedding } = entry;
    if (typeof index !== 'number' || !(index in data) || vectors[index] !== undefined)
      throw new UpstreamFailure('broken');
    vectors[index] = vectorOf(embedding);
  }
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) throw new UpstreamFailure('broken');
  return vectors;
};

const vectorOf = (given: unknown): GivenVector => {
  const vector: unknown = typeof given === 'string' ? floatsOf(given) : given;
  if (!(Array.isArray(vector) || vector instanceof Float32Array) || vector.length === 0 || !areNumbers(vector))
    throw new UpstreamFailure('broken');
  return vector as GivenVector;
};

/** A loop, since `every` takes many times as long. */
const areNumbers = (values: ArrayLike<unknown>): boolean => {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // Written so that NaN is none.
    if (typeof value !== 'number' || !(Math.abs(value) <= LARGEST)) return false;
  }
  return true;
};

/** A vector as the client wants it, cut to its first `dimensions` numbers. */
export const encoded = (
  vector: GivenVector,
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

const floatsOf = (text: string): Float32Array => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % BYTES !== 0) throw new UpstreamFailure('broken');
  const floats = new Float32Array(bytes.length / BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < floats.length; index += 1) floats[index] = view.getFloat32(index * BYTES, true);
  return floats;
};

/** Members of the answer's `data`. */
export const embeddingObjects = (
  vectors: readonly GivenVector[],
  encoding: Encoding,
  dimensions: number | undefined,
): readonly Fields[] =>
  vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding, dimensions) }));
