export { DocumentLogsViewModule } from './document-logs-view.module';
export { documentLogRow, type DocumentLogRow, documentLogs } from './document-logs.projection';
export { ListDocumentLogs } from './queries/list-document-logs';
