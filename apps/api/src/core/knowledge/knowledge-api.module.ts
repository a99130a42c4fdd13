import { AccessModule } from '@app/access';
import { KnowledgeModule } from '@app/knowledge';
import { SectionSummariesModule } from '@app/section-summaries';
import { Module } from '@nestjs/common';
import { BulkDocumentsController } from './bulk-documents.controller';
import { KnowledgeAccess } from './document-access';
import { DocumentBodies } from './document-body';
import { DocumentChunksController } from './document-chunks.controller';
import { DocumentContentController } from './document-content.controller';
import { DocumentEventsController } from './document-events.controller';
import { DocumentPresenter } from './document-presenter';
import { DocumentsController } from './documents.controller';
import { DownloadDocumentsController } from './download-documents.controller';
import { ReindexController } from './reindex.controller';
import { SearchController } from './search.controller';
import { SentChanges } from './sent-changes';
import { SummaryIndexController } from './summary-index.controller';
import { SourcesController } from './sources.controller';
import { TagsController } from './tags.controller';

/** Documents, tags, search and summary indexes. */
@Module({
  imports: [AccessModule, KnowledgeModule, SectionSummariesModule],
  controllers: [
    DocumentsController,
    BulkDocumentsController,
    DownloadDocumentsController,
    DocumentEventsController,
    DocumentContentController,
    DocumentChunksController,
    SourcesController,
    TagsController,
    SearchController,
    SummaryIndexController,
    ReindexController,
  ],
  providers: [KnowledgeAccess, DocumentBodies, DocumentPresenter, SentChanges],
})
export class KnowledgeApiModule {}
