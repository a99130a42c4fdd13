export { addedDocumentId, Batches } from './document/batches';
export { Bodies, type StoredBody } from './document/bodies';
export { CreateDocuments, type NewDocument } from './document/commands/create-documents';
export { AttachTag } from './document/commands/attach-tag';
export { bulkOperation, type BulkResult, UpdateDocuments, MOST_DOCUMENTS } from './document/commands/update-documents';
export { DeleteDocument } from './document/commands/delete-document';
export { DetachTag } from './document/commands/detach-tag';
export { UpdateChunk as UpdateDocumentChunk } from './document/commands/update-chunk';
export { ReprocessDocument } from './document/commands/reprocess-document';
export { type DocumentUpdate, UpdateDocument } from './document/commands/update-document';
export * from './document/document.commands';
export * from './document/document.decider';
export * from './document/document.events';
export { embeddedText, passagesOf } from './ingestion/passages';
export { readDocument } from './ingestion/read-document';
export { failureMessage } from './ingestion/ingestion-failure';
export { requesterOf } from './document/requester';
export { IngestionWorker, type WaitingDocument } from './ingestion/ingestion-worker';
export { ProgressBoard, readProgress } from './ingestion/progress';
export { KnowledgeModule } from './knowledge.module';
export * from './lookups';
export { UpdateReindex } from './reindex/commands/update-reindex';
export { StartReindex } from './reindex/commands/start-reindex';
export { reindexId } from './reindex/reindex-plan';
export { readReindexProgress } from './reindex/reindex-progress';
export { ReindexWorker } from './reindex/reindex-worker';
export * from './reindex/reindex.decider';
export * from './reindex/reindex.events';
export { Reindexes, type ReindexPlace, type ReindexReport } from './reindex/reindexes';
export { RetitleWorker } from './retitle/retitle-worker';
export * from './search/retrieval';
export { PutSyncedFile } from './sync/commands/put-synced-file';
export { SyncSource } from './sync/commands/sync-source';
export {
  confirmedPathsSchema,
  MOST_SYNCED_FILES,
  samePath,
  sourceFilesSchema,
  sourceIdSchema,
  sourcePathSchema,
} from './sync/source-paths';
export type { SyncedDocument } from './sync/sync-plan';
export { SyncedDocuments, syncProvider } from './sync/synced-documents';
export { CreateTag } from './tags/commands/create-tag';
export { DeleteTag } from './tags/commands/delete-tag';
export { UpdateTag } from './tags/commands/update-tag';
export { KnownTags } from './tags/known-tags';
export * from './tags/tag-registry.decider';
export * from './tags/tag.events';
