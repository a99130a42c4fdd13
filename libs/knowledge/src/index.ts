export { addedDocumentId } from './document/batches';
export { Bodies, type StoredBody } from './document/bodies';
export { CreateDocuments, type NewDocument } from './document/commands/create-documents';
export { AttachTag } from './document/commands/attach-tag';
export { bulkOperation, UpdateDocuments, MOST_DOCUMENTS } from './document/commands/update-documents';
export { DeleteDocument } from './document/commands/delete-document';
export { DetachTag } from './document/commands/detach-tag';
export { UpdateChunk as UpdateDocumentChunk } from './document/commands/update-chunk';
export { ReprocessDocument } from './document/commands/reprocess-document';
export { type DocumentUpdate, UpdateDocument } from './document/commands/update-document';
export { MOST_TAGS, documentDecider } from './document/document.decider';
export {
  ingestionStep,
  type StepReport,
  documentEvents,
  type DocumentEvent,
  documentScope,
  type DocumentScope,
  MAX_CHUNK_TEXT,
  type Searched,
} from './document/document.events';
export { embeddedText, passagesOf } from './ingestion/passages';
export { readDocument } from './ingestion/read-document';
export { failureMessage } from './ingestion/ingestion-failure';
export { requesterOf } from './document/requester';
export { IngestionWorker, type WaitingDocument } from './ingestion/ingestion-worker';
export { readProgress } from './ingestion/progress';
export { KnowledgeModule } from './knowledge.module';
export {
  DOCUMENTS_OF,
  type DocumentsOf,
  DOCUMENTS_WITH_TAGS,
  type DocumentsWithTags,
  SYNCED_DOCUMENTS,
  type SyncedDocumentsOf,
  TAGS_THAT_EXIST,
  type TagsThatExist,
  CHUNKING_OF,
  type ChunkingOf,
  INDEXED_DOCUMENTS,
  type IndexedDocuments,
  RUNNING_REINDEXES,
  type RunningReindexes,
  WAITING_DOCUMENTS,
  type WaitingDocuments,
  SHOWN_DOCUMENTS,
  type ShownDocuments,
} from './lookups';
export { UpdateReindex } from './reindex/commands/update-reindex';
export { StartReindex } from './reindex/commands/start-reindex';
export { reindexId } from './reindex/reindex-plan';
export { readReindexProgress } from './reindex/reindex-progress';
export { ReindexWorker } from './reindex/reindex-worker';
export { type ReindexAction, INSTANCE } from './reindex/reindex.decider';
export { reindexScope, type ReindexEvent } from './reindex/reindex.events';
export { Reindexes, type ReindexPlace, type ReindexReport } from './reindex/reindexes';
export { RetitleWorker } from './retitle/retitle-worker';
export {
  PASSAGES,
  PLACES,
  type SearchingAgent,
  type KnowledgeQuery,
  type Retrieved,
  scopesOf,
  isSearchedBy,
  Retrieval,
} from './search/retrieval';
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
export { tagRegistryDecider } from './tags/tag-registry.decider';
export { tagEvents, type TagEvent } from './tags/tag.events';
