import type { Chunking } from '@app/kernel';
import { List } from 'immutable';

/** The text of a document cut into passages with their vectors. */
interface Cut {
  readonly text: string;
  readonly passages: string;
  readonly chunkCount: number;
  readonly tokenCount: number;
  /** What it was cut by; null: by default. */
  readonly chunking: Chunking | null;
  /** The model whose vectors the passages have. */
  readonly model: string | null;
}

interface Indexed extends Cut {
  /** Whether attempts may use the vectors again. */
  readonly isReusable: boolean;
  /** Revision of the document at which these passages were indexed: what citations pin. */
  readonly revision: number;
}

interface Chunked {
  readonly chunks: string;
  readonly chunkCount: number;
  readonly tokenCount: number;
  readonly chunking: Chunking | null;
}

/** Passages of this document, of whatever content, with vectors of a model. */
export interface Embedded {
  readonly passages: string;
  readonly model: string;
}

/** The standby passages of a re-index, or those that were searched before its swap. */
export interface StandbyPassages extends Cut {
  readonly jobId: string;
  /** The passages that are searched, which it was made to replace, or which replaced it. */
  readonly of: string;
  readonly isEarlier: boolean;
  /** What was edited by hand of these passages; absent where an earlier version did not say. */
  readonly editedChunks?: readonly string[] | undefined;
  /** Edits of the passages that they replace, which these have not. */
  readonly editsDropped?: number | undefined;
}

/** The names of the blobs of a document, and what is in them. */
export interface DocumentBlobs {
  readonly file: string;
  /** What attempts at the present content have stored so far. */
  readonly extracted: string | null;
  readonly chunked: Chunked | null;
  /** What was embedded since `indexed`, also for earlier content. */
  readonly embedded: List<Embedded>;
  /** What the search index serves, or is about to serve. */
  readonly indexed: Indexed | null;
  /** Kept beside what is searched; null where nothing is. */
  readonly standby: StandbyPassages | null;
  /** What a re-index embedded and has not put together yet. */
  readonly embeddedStandby: { readonly jobId: string; readonly batches: List<Embedded> } | null;
  /** Blobs that new ones replace, to be named when the new ones are served. */
  readonly superseded: List<string>;
}

/** What changes in the blobs of a document. */
type Changed = Partial<DocumentBlobs>;

export const blobsOfNew = (file: string): DocumentBlobs => ({
  file,
  extracted: null,
  chunked: null,
  embedded: List(),
  indexed: null,
  standby: null,
  embeddedStandby: null,
  superseded: List(),
});

/** Every blob of a document. */
export const allBlobs = (blobs: DocumentBlobs): string[] => [
  ...new Set([
    blobs.file,
    ...servedBlobs(blobs),
    ...textBlobs(blobs),
    ...embeddedBlobs(blobs),
    ...standbyBlobs(blobs),
    ...blobs.superseded,
  ]),
];

/** What may hold vectors of passages, newest last: none of them need be embedded again. */
export const embeddedBefore = ({ embedded, indexed }: DocumentBlobs): readonly Embedded[] => [
  ...(indexed === null || indexed.model === null || !indexed.isReusable
    ? []
    : [{ passages: indexed.passages, model: indexed.model }]),
  ...embedded,
];

/** New content: what was embedded for the old one may do for parts of the new. */
export const withFile = (blobs: DocumentBlobs, file: string): Changed => ({
  file,
  extracted: null,
  chunked: null,
  superseded: blobs.superseded.push(blobs.file, ...textBlobs(blobs)),
});

/** Nothing that was made of the document before is used again. */
export const fromTheStart = (blobs: DocumentBlobs): Changed => ({
  extracted: null,
  chunked: null,
  embedded: List(),
  indexed: blobs.indexed === null ? null : { ...blobs.indexed, isReusable: false },
  superseded: blobs.superseded.push(...textBlobs(blobs), ...embeddedBlobs(blobs)),
});

export const withText = ({ extracted, superseded }: DocumentBlobs, text: string): Changed => ({
  extracted: text,
  superseded: extracted === null ? superseded : superseded.push(extracted),
});

export const withChunks = ({ chunked: before, superseded }: DocumentBlobs, chunked: Chunked): Changed => ({
  chunked,
  superseded: before === null ? superseded : superseded.push(before.chunks),
});

export const withEmbedded = ({ embedded }: DocumentBlobs, batch: Embedded): Changed => ({
  embedded: embedded.push(batch),
});

/** What the index serves next takes the place of all that it was made of. */
export const withIndexed = (blobs: DocumentBlobs, indexed: Indexed): Changed => ({
  extracted: null,
  chunked: null,
  embedded: List(),
  indexed,
  standby: null,
  embeddedStandby: null,
  superseded: blobs.superseded.push(
    ...[
      ...new Set([...servedBlobs(blobs), ...textBlobs(blobs), ...embeddedBlobs(blobs), ...standbyBlobs(blobs)]),
    ].filter((name) => name !== indexed.text && name !== indexed.passages),
  ),
});

/** What of a re-index a document holds beside what is searched. */
export const standbyBlobs = ({ standby, embeddedStandby, indexed }: DocumentBlobs): string[] =>
  [
    ...(standby === null ? [] : [standby.text, standby.passages]),
    ...(embeddedStandby?.batches.map(({ passages }) => passages).toArray() ?? []),
  ].filter((name) => name !== indexed?.text && name !== indexed?.passages);

/** Swaps the standby passages of a re-index in or out. `editedChunks`: of the searched passages. */
export const swapped = (indexed: Indexed, standby: StandbyPassages, editedChunks: readonly string[]): Changed => {
  const { jobId, of: _, isEarlier, editedChunks: __, editsDropped: ___, ...next } = standby;
  const { revision, isReusable, ...before } = indexed;
  return {
    indexed: { ...next, revision, isReusable },
    standby: { ...before, jobId, of: standby.passages, isEarlier: !isEarlier, editedChunks },
  };
};

const servedBlobs = ({ indexed }: DocumentBlobs): string[] =>
  indexed === null ? [] : [indexed.text, indexed.passages];

const textBlobs = ({ extracted, chunked }: DocumentBlobs): string[] => [
  ...(extracted === null ? [] : [extracted]),
  ...(chunked === null ? [] : [chunked.chunks]),
];

const embeddedBlobs = ({ embedded }: DocumentBlobs): string[] => embedded.map(({ passages }) => passages).toArray();
