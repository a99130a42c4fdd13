import type { ModelDescription } from '../catalogue';
import type { Vector } from '../provider';
import { UpstreamFailure } from './failure';

const BYTES = Float32Array.BYTES_PER_ELEMENT;
/** What is larger is infinite as base64, and no part of a vector. */
const LARGEST = 3.4028234663852886e38;

/**
 * The vectors of a provider's answer in the order of the inputs. Throws `UpstreamFailure` unless there is one for each, all as long,
 * of numbers alone: as long as this is not known, the provider may be asked again, or another one.
 */
export const vectorsIn = (answer: unknown, count: number): readonly Vector[] => {
  const data = isFields(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data) || data.length !== count) throw new UpstreamFailure('broken');
  const vectors: Vector[] = [];
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

const vectorOf = (given: unknown): Vector => {
  const vector: unknown = typeof given === 'string' ? floatsOf(given) : given;
  if (!(Array.isArray(vector) || vector instanceof Float32Array) || vector.length === 0 || !areNumbers(vector))
    throw new UpstreamFailure('broken');
  return vector as Vector;
};

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A loop, since `every` takes many times as long. */
const areNumbers = (values: ArrayLike<unknown>): boolean => {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    // Written so that NaN is none.
    if (typeof value !== 'number' || !(Math.abs(value) <= LARGEST)) return false;
  }
  return true;
};

const floatsOf = (text: string): Float32Array => {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % BYTES !== 0) throw new UpstreamFailure('broken');
  const floats = new Float32Array(bytes.length / BYTES);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < floats.length; index += 1) floats[index] = view.getFloat32(index * BYTES, true);
  return floats;
};

/** A vector of length one. Throws `UpstreamFailure` for one that has no direction. */
export const unit = (values: Vector): Float32Array => {
  const length = Math.hypot(...values);
  if (!(length > 0 && Number.isFinite(length))) throw new UpstreamFailure('broken');
  return Float32Array.from(values, (value) => value / length);
};

/** Code of a failure where a model's vectors have other dimensions than it is described with. */
export const DIMENSIONS_MISMATCH = 'dimensions_mismatch';

/**
 * The vectors, if they are as long as the model is described to give them. Otherwise throws an `UpstreamFailure` that nobody repeats
 * and whose cause says what to correct: such vectors cannot be compared with those that are stored.
 */
export const withDimensions = <V extends Vector>(
  vectors: readonly V[],
  { key, dimensions }: ModelDescription,
): readonly V[] => {
  const length = vectors[0]?.length;
  if (dimensions === undefined || length === undefined || length === dimensions) return vectors;
  const cause = new Error(
    `The model ${key} gives vectors of ${length} dimensions, not of ${dimensions}. Correct "dimensions" in MODELS_FILE, or name the model that was meant.`,
  );
  throw new UpstreamFailure('rejected', { status: 502, code: DIMENSIONS_MISMATCH }, { cause });
};
