import type { Position } from '@app/kernel';
import type { Checkpoint } from '@app/read-store';
import type { IndexedDocument, Passage, Scope } from '../search-index';
import { joinedCodes } from '../language/joined';
import { MAX_DIMENSIONS } from './index-schema';
import { passageId, slotId, vectorField } from './index-names';

/** The checkpoint of a slice of a version. */
export interface CheckpointRecord {
  readonly kind: 'checkpoint';
  readonly checkpoint: Checkpoint & { readonly fence: number };
}

/** A removed scope. Documents that entered it before `at` are not put again, whichever slice they come from. */
export interface ScopeRecord {
  readonly kind: 'scope';
  readonly scope: Scope;
  readonly at: Position;
}

/**
 * What an index knows of a document beside its passages. It stays when the document is removed, without its content, so that
 * what an overtaken writer may still write is never shown.
 */
export interface DocumentRecord {
  readonly kind: 'document';
  readonly documentId: string;
  /** Position of the last change. */
  readonly at: Position;
  readonly removed: boolean;
  readonly document: { readonly present?: PresentDocument };
  /** Absent if the document is removed. */
  readonly scope?: Scope;
}

export interface PresentDocument extends Omit<IndexedDocument, 'passages' | 'documentId'> {
  /** How many passages it has. */
  readonly passages: number;
  /** Whether its passages have ids of their own put. Absent for what earlier versions wrote. */
  readonly ownIds?: true;
  /** Position of the put that wrote them. A passage of another put is not shown. */
  readonly put: Position;
  /** Position since which it is in its scope. */
  readonly since: Position;
}

/** The ids of the passages of a document. Each put has its own, so that it is written beside the one before. */
export const passageIds = (
  documentId: string,
  { passages, put, ownIds }: Pick<PresentDocument, 'passages' | 'put' | 'ownIds'>,
): readonly string[] =>
  Array.from({ length: passages }, (_, number) =>
    ownIds === true ? passageId(documentId, put, number) : slotId(documentId, number),
  );

interface Place extends Omit<Passage, 'chunkId' | 'text' | 'headings' | 'vector'> {}

/** A passage, with its document's scope and tags. A disabled one is kept in `hidden`, which is not searched. */
export interface PassageRecord {
  readonly kind: 'passage';
  readonly documentId: string;
  readonly chunkId: string;
  readonly put: Position;
  readonly scope: Scope;
  readonly tagIds: readonly string[];
  readonly place: Place;
  readonly name?: string;
  readonly headings?: readonly string[];
  readonly text?: string;
  /** The codes of name, headings and text in one, which are found beside their words. */
  readonly codes?: string;
  readonly hidden?: { readonly headings: readonly string[]; readonly text: string; readonly vector?: string };
  /** Vectors, each in the field of its model: base64 of big-endian floats when written, numbers when read. */
  readonly [vector: `vector_${string}`]: string | readonly number[];
}

export const passageRecord = (
  documentId: string,
  { name, scope, tagIds, embeddingModel, put }: PresentDocument,
  { chunkId, text, headings, vector, ...place }: Passage,
): PassageRecord => {
  const record = { kind: 'passage', documentId, chunkId, put, scope, tagIds, place } as const;
  const encoded =
    vector === undefined || embeddingModel === null
      ? undefined
      : { field: vectorField(embeddingModel, vector.length), floats: encodeFloats(vector) };
  if (!place.enabled) return { ...record, hidden: { headings, text, ...(encoded && { vector: encoded.floats }) } };
  const codes = [name, ...headings, text].flatMap(joinedCodes).join(' ');
  return {
    ...record,
    name,
    headings,
    text,
    ...(codes !== '' && { codes }),
    ...(encoded && { [encoded.field]: encoded.floats }),
  };
};

/** Reads a passage from a record with its vectors. */
export const passageOf = (record: PassageRecord): Passage => {
  const { chunkId, place, hidden, headings = [], text = '' } = record;
  const vector =
    hidden === undefined
      ? visibleVector(record)
      : hidden.vector === undefined
        ? undefined
        : decodeFloats(hidden.vector);
  return {
    chunkId,
    ...place,
    headings: hidden?.headings ?? headings,
    text: hidden?.text ?? text,
    ...(vector && { vector }),
  };
};

/** Throws `RangeError` for what the server would reject in the middle of a batch. */
export const checkVector = ({ vector }: Passage): void => {
  if (vector === undefined) return;
  if (vector.length < 1 || vector.length > MAX_DIMENSIONS)
    throw new RangeError(`a vector has 1 to ${MAX_DIMENSIONS} dimensions, not ${vector.length}`);
  if (!vector.every((value: number) => Number.isFinite(value))) throw new RangeError('a vector has numbers only');
};

const visibleVector = (record: PassageRecord): readonly number[] | undefined => {
  const field = Object.keys(record).find((key): key is `vector_${string}` => key.startsWith('vector_'));
  const values = field === undefined ? undefined : record[field];
  return typeof values === 'object' ? values.map(Math.fround) : undefined;
};

const FLOAT = Float32Array.BYTES_PER_ELEMENT;

const encodeFloats = (vector: readonly number[] | Float32Array): string => {
  const bytes = Buffer.from(Float32Array.from(vector).buffer);
  return bytes.swap32().toString('base64');
};

const decodeFloats = (base64: string): readonly number[] => {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / FLOAT }, (_, index) => bytes.readFloatBE(index * FLOAT));
};
