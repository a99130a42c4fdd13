import { ListDocumentLogsHandler } from './queries/list-document-logs';

export * from './document-logs.projection';
export * from './queries/list-document-logs';

export const documentLogQueryHandlers = [ListDocumentLogsHandler];
