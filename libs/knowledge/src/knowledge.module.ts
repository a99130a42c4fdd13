import { BLOBS } from '@app/blobs';
import { Claims, COORDINATION_STORE, type CoordinationStore, Processes } from '@app/coordination';
import { Parser } from '@app/extraction';
import { BACKGROUND_PRIORITY, CLOCK, CONFIG, type Config, Decisions, IDS, LOGGER, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { Projecting, UnfinishedWork } from '@app/projecting';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { type Metering, METERING, SpendingModule } from '@app/spending';
import { Module, type OnModuleInit } from '@nestjs/common';
import { knowledgeAggregates } from './knowledge.aggregates';
import { Batches } from './document/batches';
import { Bodies } from './document/bodies';
import { CreateDocumentsHandler } from './document/commands/create-documents';
import { AttachTagHandler } from './document/commands/attach-tag';
import { UpdateDocumentsHandler } from './document/commands/update-documents';
import { DeleteDocumentHandler } from './document/commands/delete-document';
import { DetachTagHandler } from './document/commands/detach-tag';
import { UpdateChunkHandler } from './document/commands/update-chunk';
import { ReprocessDocumentHandler } from './document/commands/reprocess-document';
import { UpdateDocumentHandler } from './document/commands/update-document';
import { IngestionWorker, type WorkerOptions } from './ingestion/ingestion-worker';
import { ProgressBoard } from './ingestion/progress';
import {
  CHUNKING_OF,
  INDEXED_DOCUMENTS,
  RUNNING_REINDEXES,
  SHOWN_DOCUMENTS,
  type ShownDocuments,
  WAITING_DOCUMENTS,
} from './lookups';
import { DeleteKnowledgeOfTheDeleted } from './policies/delete-knowledge.policy';
import { DeleteTagsOfDeletedSpaces } from './policies/delete-tags-of-deleted-spaces.policy';
import { DetachDeletedTags } from './policies/detach-deleted-tags.policy';
import { IngestWaitingDocuments } from './policies/ingest-waiting-documents.policy';
import { RemoveSupersededBlobs } from './policies/remove-superseded-blobs.policy';
import { RetitleRenamedDocuments } from './policies/retitle-renamed-documents.policy';
import { ApplyReindex } from './policies/apply-reindex.policy';
import { CancelReindexesOfTheDeleted } from './policies/cancel-reindexes-of-the-deleted.policy';
import { UpdateReindexHandler } from './reindex/commands/update-reindex';
import { StartReindexHandler } from './reindex/commands/start-reindex';
import { ReindexWorker, type ReindexWorkerOptions } from './reindex/reindex-worker';
import { RetitleWorker, type RetitleWorkerOptions } from './retitle/retitle-worker';
import { Reindexes } from './reindex/reindexes';
import { DOCUMENTS, PASSAGES, Retrieval } from './search/retrieval';
import { PutSyncedFileHandler } from './sync/commands/put-synced-file';
import { SyncSourceHandler } from './sync/commands/sync-source';
import { SyncedDocuments } from './sync/synced-documents';
import { CreateTagHandler } from './tags/commands/create-tag';
import { DeleteTagHandler } from './tags/commands/delete-tag';
import { UpdateTagHandler } from './tags/commands/update-tag';
import { KnownTags } from './tags/known-tags';

/** If a document does not appear as waiting within this time, it is processed anyway, milliseconds. */
const SHOWN_WITHIN_MS = 10_000;

const commands = [
  CreateDocumentsHandler,
  AttachTagHandler,
  UpdateDocumentsHandler,
  DeleteDocumentHandler,
  DetachTagHandler,
  UpdateChunkHandler,
  ReprocessDocumentHandler,
  UpdateDocumentHandler,
  PutSyncedFileHandler,
  SyncSourceHandler,
  CreateTagHandler,
  DeleteTagHandler,
  UpdateTagHandler,
  StartReindexHandler,
  UpdateReindexHandler,
];
const policies = [
  ApplyReindex,
  CancelReindexesOfTheDeleted,
  IngestWaitingDocuments,
  DeleteKnowledgeOfTheDeleted,
  DeleteTagsOfDeletedSpaces,
  DetachDeletedTags,
  RemoveSupersededBlobs,
  RetitleRenamedDocuments,
];

type WorkerParts = Omit<WorkerOptions, 'searchable' | 'shown' | 'progress' | 'claims'> & {
  readonly claims: Claims;
  readonly processes: Processes;
  readonly projecting: Projecting;
  readonly searchIndex: SearchIndex;
  readonly coordination: CoordinationStore;
};

const ingestionWorker = ({
  projecting,
  searchIndex,
  coordination,
  processes,
  claims,
  ...parts
}: WorkerParts): IngestionWorker =>
  new IngestionWorker({
    ...parts,
    claims: processes.alone ? undefined : claims,
    progress: new ProgressBoard(coordination, parts.clock, (error, documentId) =>
      parts.logger.warn({ documentId, error }, 'Reporting progress failed. The work continues.'),
    ),
    shown: (position) => projecting.waitFor(DOCUMENTS, position, SHOWN_WITHIN_MS),
    searchable: async (documentId, { position, revision }, withinMs) =>
      (await projecting.waitFor(PASSAGES, position, withinMs)) &&
      ((await searchIndex.revisionOf(PASSAGES, documentId)) ?? -1) >= revision,
  });

/** Documents, their ingestion and search, and tags. Views provide what `lookups.ts` declares, the platform `CHUNKING_OF`. The worker runs where it is started. */
@Module({
  imports: [SpendingModule],
  providers: [
    ...commands,
    ...policies,
    Bodies,
    KnownTags,
    Reindexes,
    provideWith(ReindexWorker, (parts: ReindexWorkerOptions) => new ReindexWorker(parts), {
      decisions: Decisions,
      blobs: BLOBS,
      models: Models,
      metering: METERING,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
      claims: Claims,
      coordination: COORDINATION_STORE,
      chunkingOf: CHUNKING_OF,
      parser: Parser,
      documents: INDEXED_DOCUMENTS,
      running: RUNNING_REINDEXES,
    }),
    provideWith(RetitleWorker, (parts: RetitleWorkerOptions) => new RetitleWorker(parts), {
      decisions: Decisions,
      blobs: BLOBS,
      models: Models,
      metering: METERING,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
      claims: Claims,
      coordination: COORDINATION_STORE,
    }),
    SyncedDocuments,
    Batches,
    {
      provide: Retrieval,
      inject: [SEARCH_INDEX, SHOWN_DOCUMENTS, Models, METERING],
      useFactory: (index: SearchIndex, shown: ShownDocuments, models: Models, metering: Metering) =>
        new Retrieval(index, shown, { models, metering }),
    },
    {
      provide: Parser,
      inject: [CONFIG],
      useFactory: (config: Config) => Parser.of(config, { priority: BACKGROUND_PRIORITY }),
    },
    provideWith(IngestionWorker, ingestionWorker, {
      decisions: Decisions,
      blobs: BLOBS,
      models: Models,
      metering: METERING,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
      claims: Claims,
      chunkingOf: CHUNKING_OF,
      parser: Parser,
      waiting: WAITING_DOCUMENTS,
      processes: Processes,
      projecting: Projecting,
      searchIndex: SEARCH_INDEX,
      coordination: COORDINATION_STORE,
    }),
  ],
  exports: [
    Bodies,
    KnownTags,
    SyncedDocuments,
    Batches,
    Retrieval,
    IngestionWorker,
    Reindexes,
    ReindexWorker,
    RetitleWorker,
  ],
})
export class KnowledgeModule implements OnModuleInit {
  static readonly aggregates = knowledgeAggregates;

  constructor(
    private readonly batches: Batches,
    private readonly unfinished: UnfinishedWork,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'documents', finish: () => this.batches.finish() });
  }
}
