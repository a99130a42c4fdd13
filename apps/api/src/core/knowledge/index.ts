import type { Provider, Type } from '@nestjs/common';
import { KnowledgeAccess } from './document-access';
import { DocumentContentController } from './document-content.controller';
import { DocumentPresenter } from './document-presenter';
import { DocumentsController } from './documents.controller';
import { SearchController } from './search.controller';
import { TagsController } from './tags.controller';

export const knowledgeControllers: readonly Type[] = [
  DocumentsController,
  DocumentContentController,
  TagsController,
  SearchController,
];
export const knowledgeProviders: readonly Provider[] = [KnowledgeAccess, DocumentPresenter];
