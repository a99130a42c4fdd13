import type { Chunking, Sensitive } from '@app/kernel';
import type { DocumentProvider, DocumentScope, IngestionStep, StepReport } from './document.events';

/** A new document; `spaceId` and `agentId` depend on its scope, otherwise null. `file` names a blob of `sizeBytes`. */
export interface CreateDocument {
  readonly documentId: string;
  readonly scope: DocumentScope;
  readonly spaceId: string | null;
  readonly agentId: string | null;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly provider: DocumentProvider;
  /** Its path in its source, if it came from one. */
  readonly path?: string;
  readonly file: string;
  readonly tagIds: readonly string[];
}

/** New content of a document: `file` names a blob of `sizeBytes`. */
export interface ReplacementContent {
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly file: string;
}

/** What a re-index does to one document. */
export type PassagesCommand =
  | {
      readonly type: 'KeepReindexBatch';
      readonly jobId: string;
      readonly passages: string;
      readonly count: number;
      readonly embeddingModel: string;
    }
  | {
      readonly type: 'KeepReindexed';
      readonly jobId: string;
      /** The passages that were searched when it began. */
      readonly of: string;
      readonly text: string;
      readonly passages: string;
      readonly chunkCount: number;
      readonly tokenCount: number;
      readonly chunking: Chunking | null;
      readonly embeddingModel: string | null;
      /** Passages from before a swap, made again for what was edited since. */
      readonly isEarlier?: true;
      /** As of `MarkIndexed`. */
      readonly editedChunks?: readonly string[];
      readonly editsDropped?: number;
    }
  | { readonly type: 'SwapPassages'; readonly jobId: string; readonly to: 'new' | 'earlier' }
  /** `of`: the unused passages of this job, or those of all other jobs except ones that began `later`. */
  | {
      readonly type: 'DiscardReindexed';
      readonly jobId: string;
      readonly of: 'job' | 'others';
      readonly later?: readonly string[];
    };

/** Names the passages that differ in one chunk from those that are served. */
export interface UpdateChunk {
  readonly type: 'UpdateChunk';
  readonly chunkId: string;
  /** Null: as before. */
  readonly text: string | null;
  readonly enabled: boolean;
  readonly edited: boolean;
  /** The passages that were changed. If others are served by now, they are to be changed instead. */
  readonly base: string;
  readonly passages: string;
}

/** Names the passages that differ from those that are served in their vectors alone, which are of another title. */
export interface Retitle {
  readonly type: 'Retitle';
  /** The name that they were embedded with. If the document now has another, they are of no use. */
  readonly name: string;
  /** As of `UpdateChunk`. */
  readonly base: string;
  readonly passages: string;
}

/** What can be asked of a document. */
export type DocumentCommand =
  | ({ readonly type: 'Add' } & CreateDocument)
  | {
      readonly type: 'Update';
      readonly name?: string;
      readonly tagIds?: readonly string[];
      /** The tags that `tagIds` decides on; others that the document carries stay. Absent: all. */
      readonly tagsKnown?: ReadonlySet<string>;
      readonly content?: ReplacementContent;
      readonly enabled?: boolean;
    }
  | UpdateChunk
  | Retitle
  | { readonly type: 'AttachTag' | 'DetachTag'; readonly tagId: string }
  | { readonly type: 'Reprocess'; readonly force: boolean }
  | { readonly type: 'Start' }
  | {
      readonly type: 'MarkChunked';
      readonly attempt: number;
      readonly text: string;
      readonly chunks: string;
      readonly chunkCount: number;
      readonly tokenCount: number;
      readonly chunking: Chunking | null;
      readonly reports: { readonly parse: StepReport; readonly chunk: StepReport };
    }
  | {
      readonly type: 'MarkEmbedded';
      readonly attempt: number;
      readonly passages: string;
      readonly count: number;
      readonly embeddingModel: string;
    }
  | {
      readonly type: 'MarkIndexed';
      readonly attempt: number;
      readonly passages: string;
      /** The name of the document that the passages were embedded with. */
      readonly name: Sensitive<string>;
      /** How many of the passages were embedded for this and are in no other blob. */
      readonly embedded: number;
      readonly embeddingModel: string;
      readonly steps: readonly StepReport[];
      /** What became of what was edited by hand before. */
      readonly editedChunks?: readonly string[];
      readonly editsDropped?: number;
    }
  | { readonly type: 'MarkReady'; readonly attempt: number }
  | {
      readonly type: 'RetryLater';
      readonly attempt: number;
      readonly step: IngestionStep;
      readonly code: string;
      readonly retryAt: string;
    }
  | { readonly type: 'Fail'; readonly attempt: number; readonly step: IngestionStep; readonly code: string }
  | PassagesCommand
  /** `contentHash`: only while it has this content. */
  | { readonly type: 'Delete'; readonly contentHash?: string };
