import { FindDocumentHandler, GetDocumentHandler } from './queries/get-document';
import { ListDocumentsHandler } from './queries/list-documents';

export * from './documents.projection';
export * from './queries/get-document';
export * from './queries/list-documents';

export const documentQueryHandlers = [FindDocumentHandler, GetDocumentHandler, ListDocumentsHandler];
