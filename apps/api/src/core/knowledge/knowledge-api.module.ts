import { AccessModule } from '@app/access';
import { KnowledgeModule } from '@app/knowledge';
import { Module } from '@nestjs/common';
import { KnowledgeAccess } from './document-access';
import { DocumentContentController } from './document-content.controller';
import { DocumentEventsController } from './document-events.controller';
import { DocumentPresenter } from './document-presenter';
import { DocumentsController } from './documents.controller';
import { SearchController } from './search.controller';
import { TagsController } from './tags.controller';

/** Documents, tags and search. */
@Module({
  imports: [AccessModule, KnowledgeModule],
  controllers: [
    DocumentsController,
    DocumentEventsController,
    DocumentContentController,
    TagsController,
    SearchController,
  ],
  providers: [KnowledgeAccess, DocumentPresenter],
})
export class KnowledgeApiModule {}
