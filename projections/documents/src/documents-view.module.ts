import { CompleteViews } from '@app/projecting';
import {
  DOCUMENTS_OF,
  DOCUMENTS_WITH_TAGS,
  type DocumentsOf,
  type DocumentsWithTags,
  INDEXED_DOCUMENTS,
  type IndexedDocuments,
  SHOWN_DOCUMENTS,
  type ShownDocuments,
  SYNCED_DOCUMENTS,
  type SyncedDocument,
  type SyncedDocumentsOf,
  syncProvider,
} from '@app/knowledge';
import { pagesOf, READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { Module } from '@nestjs/common';
import { type DocumentRow, documents } from './documents.projection';
import { FindDocumentHandler, FindDocumentsHandler, GetDocumentHandler } from './queries/get-document';
import { ListDocumentsHandler } from './queries/list-documents';
import { SameNameHandler } from './queries/same-name';
import { modelsSearched } from './queries/models-searched';
import { servedRows } from './queries/served-rows';

const newestFirst = [{ field: 'createdAt', order: 'desc' as const }];

const lookUp =
  (views: CompleteViews): DocumentsOf =>
  (owner, position) =>
    views.keys(documents.name, { ...owner }, newestFirst, position);

/** No index knows tags: the documents of the Space are looked through, which only the deletion of a tag asks for. */
const withTags =
  (views: CompleteViews, store: Pick<ReadStore, 'find'>): DocumentsWithTags =>
  async (spaceId, tagIds, position) => {
    await views.reached(documents.name, position);
    const found: string[] = [];
    for (const where of [{ place: 'g' }, ...(spaceId === null ? [] : [{ spaceId }])])
      for await (const rows of pagesOf(store, documents.name, { where, orderBy: newestFirst }))
        for (const { key, row } of rows as readonly StoredRow<DocumentRow>[])
          if (row.tagIds.some((tagId) => tagIds.includes(tagId))) found.push(key);
    return found;
  };

const fromSource =
  (views: CompleteViews, store: Pick<ReadStore, 'find'>): SyncedDocumentsOf =>
  async (agentId, sourceId, position) => {
    await views.reached(documents.name, position);
    const found: SyncedDocument[] = [];
    const where = { agentId, provider: syncProvider(sourceId) };
    for await (const rows of pagesOf(store, documents.name, { where, orderBy: newestFirst }))
      for (const { key: documentId, row } of rows as readonly StoredRow<DocumentRow>[])
        // Erased: about to be deleted.
        if (typeof row.path === 'string' && typeof row.contentHash === 'string')
          found.push({ documentId, path: row.path, contentHash: row.contentHash });
    return found;
  };

/** Unready documents that a search passes over at most. */
const MOST_UNREADY = 10_000;

const indexedDocuments = (views: CompleteViews, store: Pick<ReadStore, 'find'>): IndexedDocuments =>
  async function* (level, position) {
    if (position !== undefined) await views.reached(documents.name, position);
    const where = level === null ? {} : { place: level };
    const orderBy = [{ field: 'createdAt', order: 'desc' as const }];
    for await (const rows of pagesOf<DocumentRow>(store, documents.name, { where, orderBy }))
      yield rows.flatMap(({ key: documentId, row: { indexedRevision, embeddingModel: model, ...row } }) =>
        indexedRevision === null
          ? []
          : [{ documentId, model, chunkCount: row.chunkCount, tokenCount: row.tokenCount, chunking: row.chunking }],
      );
  };

const shownDocuments = (store: Pick<ReadStore, 'find' | 'getMany'>): ShownDocuments => ({
  ready: async (documentIds) => {
    const rows = (await store.getMany(documents.name, documentIds)) as readonly StoredRow<DocumentRow>[];
    return new Map(
      rows.flatMap(({ key, row: { status, disabled, indexedRevision, mimeType } }) =>
        status === 'Ready' && disabled !== true && indexedRevision !== null
          ? [[key, { revision: indexedRevision, mediaType: mimeType }]]
          : [],
      ),
    );
  },
  models: () => modelsSearched(store),
  hasModel: async (model, scopes) => {
    const where = { embeddingModel: model, place: { in: scopes } };
    const orderBy = [{ field: 'createdAt', order: 'desc' as const }];
    return (await servedRows(store, { where, orderBy, limit: 1 })).length > 0;
  },
  unready: async (scopes) => {
    const where = { place: { in: scopes }, status: { in: ['Pending', 'Processing'] } };
    return (await servedRows(store, { where, orderBy: newestFirst, limit: MOST_UNREADY })).map(({ key }) => key);
  },
});

/** The view `documents`. */
@Module({
  providers: [
    FindDocumentHandler,
    FindDocumentsHandler,
    GetDocumentHandler,
    ListDocumentsHandler,
    SameNameHandler,
    { provide: DOCUMENTS_OF, inject: [CompleteViews], useFactory: lookUp },
    { provide: DOCUMENTS_WITH_TAGS, inject: [CompleteViews, READ_STORE], useFactory: withTags },
    { provide: INDEXED_DOCUMENTS, inject: [CompleteViews, READ_STORE], useFactory: indexedDocuments },
    { provide: SYNCED_DOCUMENTS, inject: [CompleteViews, READ_STORE], useFactory: fromSource },
    { provide: SHOWN_DOCUMENTS, inject: [READ_STORE], useFactory: shownDocuments },
  ],
  exports: [INDEXED_DOCUMENTS, DOCUMENTS_OF, DOCUMENTS_WITH_TAGS, SYNCED_DOCUMENTS, SHOWN_DOCUMENTS],
})
export class DocumentsViewModule {
  static readonly projections = [documents];
}
