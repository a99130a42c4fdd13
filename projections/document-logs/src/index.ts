export { DocumentLogsViewModule } from './document-logs-view.module';
export * from './document-logs.projection';
export * from './queries/list-document-logs';
