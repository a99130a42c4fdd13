import { CompleteViews } from '@app/projecting';
import { DOCUMENTS_OF, type DocumentsOf, SHOWN_DOCUMENTS, type ShownDocuments } from '@app/knowledge';
import { READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { Module } from '@nestjs/common';
import { type DocumentRow, documents } from './documents.projection';
import { FindDocumentHandler, GetDocumentHandler } from './queries/get-document';
import { ListDocumentsHandler } from './queries/list-documents';
import { SameNameHandler } from './queries/same-name';
import { servedRows } from './queries/served-rows';

const lookUp =
  (views: CompleteViews): DocumentsOf =>
  (owner, position) =>
    views.keys(documents.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);

/** Unready documents that a search passes over at most. */
const MOST_UNREADY = 10_000;

const shownDocuments = (store: Pick<ReadStore, 'find' | 'getMany'>): ShownDocuments => ({
  ready: async (documentIds) => {
    const rows = (await store.getMany(documents.name, documentIds)) as readonly StoredRow<DocumentRow>[];
    return new Map(
      rows.flatMap(({ key, row: { status, indexedRevision } }) =>
        status === 'Ready' && indexedRevision !== null ? [[key, indexedRevision]] : [],
      ),
    );
  },
  unready: async (scopes) => {
    const where = { place: { in: scopes }, status: { in: ['Pending', 'Processing'] } };
    const orderBy = [{ field: 'createdAt', order: 'desc' as const }];
    return (await servedRows(store, { where, orderBy, limit: MOST_UNREADY })).map(({ key }) => key);
  },
});

/** The view `documents`. */
@Module({
  providers: [
    FindDocumentHandler,
    GetDocumentHandler,
    ListDocumentsHandler,
    SameNameHandler,
    { provide: DOCUMENTS_OF, inject: [CompleteViews], useFactory: lookUp },
    { provide: SHOWN_DOCUMENTS, inject: [READ_STORE], useFactory: shownDocuments },
  ],
  exports: [DOCUMENTS_OF, SHOWN_DOCUMENTS],
})
export class DocumentsViewModule {
  static readonly projections = [documents];
}
