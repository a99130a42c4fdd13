import { CompleteViews } from '@app/projecting';
import { DOCUMENTS_OF, type DocumentsOf } from '@app/knowledge';
import { Module } from '@nestjs/common';
import { documents } from './documents.projection';
import { FindDocumentHandler, GetDocumentHandler } from './queries/get-document';
import { ListDocumentsHandler } from './queries/list-documents';

const lookUp =
  (views: CompleteViews): DocumentsOf =>
  (owner, position) =>
    views.keys(documents.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);

/** The view `documents`. */
@Module({
  providers: [
    FindDocumentHandler,
    GetDocumentHandler,
    ListDocumentsHandler,
    { provide: DOCUMENTS_OF, inject: [CompleteViews], useFactory: lookUp },
  ],
  exports: [DOCUMENTS_OF],
})
export class DocumentsViewModule {
  static readonly projections = [documents];
}
