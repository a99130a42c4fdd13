import { createHash } from 'node:crypto';
import type { Position } from '@app/kernel';
import { canonicalJson, type Place } from '@app/kernel/threads';
import type { BuildFile, Checkpoint } from '@app/read-store';

/** Injection token of the `SearchIndex` port. */
export const SEARCH_INDEX = Symbol('SearchIndex');

/** A piece of a document as it is searched and cited, with its place in the file. */
export interface Passage extends Place {
  readonly chunkId: string;
  readonly ordinal: number;
  readonly text: string;
  /** Headings above the passage, outermost first; searched with it. */
  readonly headings: readonly string[];
  /** Character offsets in the extracted text. */
  readonly start: number;
  readonly end: number;
  readonly enabled: boolean;
  /** Unit vector of the model named by the document; absent: text search only. */
  readonly vector?: readonly number[] | Float32Array;
}

/** `a:<agentId>`, `s:<spaceId>` or `g`: the level of Knowledge a document belongs to. A search names the scopes it may see. */
export type Scope = string;

/** A document with its passages, ready to be searched. */
export interface IndexedDocument {
  readonly documentId: string;
  readonly name: string;
  readonly scope: Scope;
  readonly tagIds: readonly string[];
  /** Revision of the document's stream at which these passages were indexed; citations pin it. */
  readonly revision: number;
  readonly embeddingModel: string | null;
  readonly passages: readonly Passage[];
}

/** One change of a search index. */
export type SearchOperation =
  | { readonly op: 'putDocument'; readonly document: IndexedDocument }
  /** A document moves to another scope by being put there. */
  | {
      readonly op: 'patchDocument';
      readonly documentId: string;
      readonly fields: Partial<Pick<IndexedDocument, 'name' | 'tagIds' | 'revision'>>;
    }
  | { readonly op: 'removeDocument'; readonly documentId: string }
  | { readonly op: 'removeScope'; readonly scope: Scope };

/** One commit of a projector: passages and checkpoint together, or nothing. As `RowBatch`. */
export interface SearchBatch {
  readonly index: string;
  readonly version: number;
  /** Which slice of the streams these changes are of; 0 by default. Checkpoint and fence are kept apart for each slice. */
  readonly slice?: number;
  readonly changes: readonly { readonly position: Position; readonly operations: readonly SearchOperation[] }[];
  readonly from: Position | null;
  readonly to: Checkpoint;
  readonly fence: number;
}

/** What is searched, and where. */
export interface SearchQuery {
  /** At least one, or nothing is found. */
  readonly scopes: readonly Scope[];
  readonly text: string;
  /** The query's vector and the model it is of; only passages of the same model are compared. */
  readonly vector?: { readonly model: string; readonly values: readonly number[] | Float32Array };
  readonly mode: 'hybrid' | 'text' | 'vector';
  readonly limit: number;
  readonly documentIds?: readonly string[];
  /** Documents that are passed over. */
  readonly exceptDocumentIds?: readonly string[];
  /** Documents that carry one of these tags. */
  readonly tagIds?: readonly string[];
  /** Weight of the vectors beside the words in the fusion, 0 to 1; the embedding model's own, 1 by default. */
  readonly vectorWeight?: number;
}

/** A passage that was found, the best first. */
export interface SearchHit extends Place {
  readonly documentId: string;
  readonly documentName: string;
  readonly documentRevision: number;
  readonly scope: Scope;
  readonly chunkId: string;
  /** Its place among the passages of the document, from 0. */
  readonly ordinal: number;
  readonly text: string;
  readonly headings: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly score: number;
  /** From 1; null where that ranking did not find it. */
  readonly textRank: number | null;
  readonly vectorRank: number | null;
}

/** The port of full-text and vector search over Knowledge. Queries go to the live version. */
export interface SearchIndex {
  prepare(index: string, version: number): Promise<void>;
  live(index: string): Promise<number | undefined>;
  versions(index: string): Promise<readonly number[]>;
  swap(index: string, from: number | undefined, to: number): Promise<boolean>;
  drop(index: string, version: number): Promise<void>;
  /** See `ReadStore`. */
  damaged?(): Promise<readonly BuildFile[]>;
  setAside?(index: string, version: number): Promise<void>;
  checkpoint(index: string, version: number, slice?: number): Promise<Checkpoint | undefined>;
  /** All or nothing, with the checkpoint; what it wrote is found by the next search. Throws `CheckpointMismatch` and `Fenced` of the read store. */
  apply(batch: SearchBatch): Promise<void>;
  search(index: string, query: SearchQuery): Promise<readonly SearchHit[]>;
  /** Those of the scopes in which one passage has all words of a text, in any form of German or English; none for a text without words. */
  scopesWith(
    index: string,
    query: { readonly scopes: readonly Scope[]; readonly text: string },
  ): Promise<readonly Scope[]>;
  /** Looks up the words of a hybrid query whose vector is still being made: its search then need not, unless the index has changed meanwhile. */
  prefetch?(index: string, query: Omit<SearchQuery, 'vector' | 'vectorWeight'>): Promise<void>;
  /** The revision at which searches find a document now; undefined where none can find it. */
  revisionOf(index: string, documentId: string): Promise<number | undefined>;
  count(index: string, version: number): Promise<{ readonly documents: number; readonly passages: number }>;
  /** Documents by id with a digest of their passages, for verification: pages after an id. */
  scan(
    index: string,
    version: number,
    afterId: string | null,
    limit: number,
  ): Promise<readonly { readonly documentId: string; readonly digest: string }[]>;
  purge(): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}

/** SHA-256 of everything that an index holds of a document: tags in order, passages by ordinal and chunk id, vectors as single floats. The same on every engine. */
export const documentDigest = (document: IndexedDocument): string =>
  createHash('sha256').update(canonicalJson(document)).digest('hex');
