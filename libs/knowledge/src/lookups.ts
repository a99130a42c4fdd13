import type { Chunking, Position } from '@app/kernel';
import type { Scope } from '@app/search-index';
import type { LiveDocument } from './document/document.decider';
import type { WaitingDocument } from './ingestion/ingestion-worker';
import type { SyncedDocument } from './sync/sync-plan';

/** Injection token of `DocumentsOf`. */
export const DOCUMENTS_OF = Symbol('DocumentsOf');
/** Ids of the documents of an Agent or a Space, complete up to the event at `position`. */
export type DocumentsOf = (
  owner: { readonly agentId: string } | { readonly spaceId: string },
  position: Position,
) => Promise<readonly string[]>;

/** Injection token of `DocumentsWithTags`. */
export const DOCUMENTS_WITH_TAGS = Symbol('DocumentsWithTags');
/**
 * Ids of the documents of a Space (null: only the global ones) with one of these tags, complete up to the event at
 * `position`. Always includes global documents.
 */
export type DocumentsWithTags = (
  spaceId: string | null,
  tagIds: readonly string[],
  position: Position,
) => Promise<readonly string[]>;

/** Injection token of `SyncedDocumentsOf`. */
export const SYNCED_DOCUMENTS = Symbol('SyncedDocuments');
/** The documents of an Agent that came from a source, complete up to the event at `position`. */
export type SyncedDocumentsOf = (
  agentId: string,
  sourceId: string,
  position: Position,
) => Promise<readonly SyncedDocument[]>;

/** Injection token of `TagsThatExist`. */
export const TAGS_THAT_EXIST = Symbol('TagsThatExist');
/** Those of the tags that are not deleted, complete up to the event at `position`. */
export type TagsThatExist = (tagIds: readonly string[], position: Position) => Promise<ReadonlySet<string>>;

/** Injection token of `ChunkingOf`. */
export const CHUNKING_OF = Symbol('ChunkingOf');
/**
 * The present chunking of an Agent's, a Space's or the instance's documents: that of the Agent, or else of the Space;
 * null: the default.
 */
export type ChunkingOf = (place: Pick<LiveDocument, 'scope' | 'agentId' | 'spaceId'>) => Promise<Chunking | null>;

/** What is searched of a document, as the API shows it. */
export interface IndexedFacts {
  readonly documentId: string;
  readonly chunkCount: number;
  readonly tokenCount: number;
  readonly chunking: Chunking | null;
  readonly model: string | null;
}

/** Injection token of `IndexedDocuments`. */
export const INDEXED_DOCUMENTS = Symbol('IndexedDocuments');
/**
 * Documents of a level of Knowledge, or all (null), that are or were searched, page after page; complete up to the
 * event at `position`, if given.
 */
export type IndexedDocuments = (level: Scope | null, position?: Position) => AsyncIterable<readonly IndexedFacts[]>;

/** Injection token of `RunningReindexes`. */
export const RUNNING_REINDEXES = Symbol('RunningReindexes');
/** Ids of the streams of running or unfinished re-index jobs, as many as one sweep handles. */
export interface RunningReindexes {
  running(): Promise<readonly string[]>;
  open(): Promise<readonly string[]>;
}

/** Injection token of `WaitingDocuments`. */
export const WAITING_DOCUMENTS = Symbol('WaitingDocuments');
/**
 * Documents that are neither Ready nor Failed, including those of a killed worker: the longest waiting of each Space.
 */
export type WaitingDocuments = () => Promise<readonly WaitingDocument[]>;

/** Injection token of `ShownDocuments`. */
export const SHOWN_DOCUMENTS = Symbol('ShownDocuments');
/** A document that is searched. */
export interface ReadyDocument {
  /** At which its passages were indexed. */
  readonly revision: number;
  readonly mediaType: string;
}

/** Documents as the API shows them. */
export interface ShownDocuments {
  /** Those of the documents that are Ready and enabled. */
  ready(documentIds: readonly string[]): Promise<ReadonlyMap<string, ReadyDocument>>;
  /** The embedding models whose vectors are searched, in the whole instance. */
  models(): Promise<readonly string[]>;
  /** Whether a document at these levels has vectors of a model. */
  hasModel(model: string, scopes: readonly Scope[]): Promise<boolean>;
  /** Ids of the documents at these levels that wait for ingestion or are in it. */
  unready(scopes: readonly Scope[]): Promise<readonly string[]>;
}
