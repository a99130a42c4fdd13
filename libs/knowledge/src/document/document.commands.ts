import type { Chunking } from '@app/kernel';
import type { DocumentScope, IngestionStep, StepReport } from './document.events';

export interface CreateDocument {
  readonly documentId: string;
  readonly scope: DocumentScope;
  readonly spaceId: string | null;
  readonly agentId: string | null;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly provider: 'upload' | 'inline';
  readonly file: string;
  readonly tagIds: readonly string[];
}

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
      readonly embeddingModel: string;
    }
  | { readonly type: 'SwapPassages'; readonly jobId: string; readonly to: 'new' | 'earlier' }
  /** `of`: what this job made and is not searched, or what all other jobs left. */
  | { readonly type: 'DiscardReindexed'; readonly jobId: string; readonly of: 'job' | 'others' };

export type DocumentCommand =
  | ({ readonly type: 'Add' } & CreateDocument)
  | {
      readonly type: 'Update';
      readonly name?: string;
      readonly tagIds?: readonly string[];
      readonly content?: ReplacementContent;
    }
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
      /** How many of the passages were embedded for this and are in no other blob. */
      readonly embedded: number;
      readonly embeddingModel: string;
      readonly steps: readonly StepReport[];
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
  | { readonly type: 'Delete' };
