export { DocumentsViewModule } from './documents-view.module';
export * from './documents.projection';
export * from './queries/get-document';
export * from './queries/list-documents';
export { modelsSearched } from './queries/models-searched';
export { SameName } from './queries/same-name';
