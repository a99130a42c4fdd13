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
  | { readonly type: 'Delete' };
