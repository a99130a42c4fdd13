export { DocumentsViewModule } from './documents-view.module';
export { documentRow, type DocumentRow, documents } from './documents.projection';
export { GetDocument, FindDocument, FindDocuments } from './queries/get-document';
export { type DocumentFilter, ListDocuments, ListDocumentsHandler } from './queries/list-documents';
export { modelsSearched } from './queries/models-searched';
export { SameName } from './queries/same-name';
