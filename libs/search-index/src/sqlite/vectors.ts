import type { Ranked } from '../fusion';

/** A passage with a vector, as the index numbers both. */
export interface StoredVector {
  readonly passage: number;
  /** Of which model and length it is. */
  readonly model: number;
  readonly values: Float32Array;
  /** What is disabled keeps its vector, and is never near. */
  readonly enabled: boolean;
}

/** The vectors of one version of an index. */
export interface Vectors {
  /** Makes place for the vectors of a model that is new to the index. */
  prepare(model: number, dimensions: number): void;
  put(document: { readonly id: number; readonly scope: number }, vectors: readonly StoredVector[]): void;
  remove(document: number, vectors: readonly Pick<StoredVector, 'passage' | 'model'>[]): void;
  get(vector: Pick<StoredVector, 'passage' | 'model'>): Float32Array;
  /** The nearest passages of the scopes, so many, of these documents alone where they are given; nearest first. Behind them those that are as near as the last. */
  nearest(asked: NearestQuery, wanted: number): readonly Ranked<number>[];
}

export interface NearestQuery {
  readonly model: number;
  readonly values: Float32Array;
  readonly scopes: readonly number[];
  readonly documents?: ReadonlySet<number> | undefined;
}

/** The bytes of a blob, where numbers of any size may begin. */
export const bytesOf = (blob: Buffer): ArrayBuffer =>
  blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.byteLength) as ArrayBuffer;

/** The numbers of a blob, where they are if they are aligned. */
export const floatsOf = (blob: Buffer): Float32Array =>
  blob.byteOffset % Float32Array.BYTES_PER_ELEMENT === 0
    ? new Float32Array(blob.buffer, blob.byteOffset, blob.byteLength / Float32Array.BYTES_PER_ELEMENT)
    : new Float32Array(bytesOf(blob));

export const wholesOf = (blob: Buffer): Uint32Array =>
  blob.byteOffset % Uint32Array.BYTES_PER_ELEMENT === 0
    ? new Uint32Array(blob.buffer, blob.byteOffset, blob.byteLength / Uint32Array.BYTES_PER_ELEMENT)
    : new Uint32Array(bytesOf(blob));

export const blobOf = (values: Float32Array | Float64Array | Uint32Array): Buffer =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength);
