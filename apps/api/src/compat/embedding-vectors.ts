import { endianness } from 'node:os';
import { UpstreamFailure } from '@app/models';
import { type Fields, isFields } from './checks';

/** A vector as a provider gave it: numbers, or base64 of float32 little endian. */
export type GivenVector = readonly number[] | Float32Array | string;

/** What a client gets: base64 is what the official clients ask for. */
export type Encoding = 'float' | 'base64';

const BYTES = Float32Array.BYTES_PER_ELEMENT;
const isLittleEndian = endianness() === 'LE';

/** The vectors of a provider's answer in the order of the inputs. Throws `UpstreamFailure` unless there is one for each. */
export const vectorsIn = (answer: unknown, count: number): readonly GivenVector[] => {
  const data = isFields(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== count) throw new UpstreamFailure('broken');
  const vectors: GivenVector[] = [];
  for (const entry of data as unknown[]) {
    if (!isFields(entry)) throw new UpstreamFailure('broken');
    const { index, embedding } = entry;
    if (typeof index !== 'number' || !(index in data) || vectors[index] !== undefined || !isVector(embedding)) throw new UpstreamFailure('broken');
    vectors[index] = embedding;
  }
  return vectors;
};

/** Numbers are looked at when they are converted. */
const isVector = (value: unknown): value is GivenVector => (Array.isArray(value) && typeof value[0] === 'number') || (typeof value === 'string' && value !== '');

/** Length of a vector. */
export const dimensionsOf = (vector: GivenVector): number => (typeof vector === 'string' ? Buffer.byteLength(vector, 'base64') / BYTES : vector.length);

/** A vector as the client wants it, cut to its first `dimensions` numbers. */
export const encoded = (vector: GivenVector, encoding: Encoding, dimensions: number | undefined): string | readonly number[] => {
  if (encoding === 'base64' && typeof vector === 'string' && dimensions === undefined) return vector;
  const numbers = typeof vector === 'string' ? floatsOf(vector) : vector;
  const cut = dimensions !== undefined && dimensions < numbers.length ? (numbers as Float32Array).slice(0, dimensions) : numbers;
  if (encoding === 'float') return Array.isArray(cut) ? cut : Array.from(cut);
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
export const embeddingObjects = (vectors: readonly GivenVector[], encoding: Encoding, dimensions: number | undefined): readonly Fields[] =>
  vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, encoding, dimensions) }));
