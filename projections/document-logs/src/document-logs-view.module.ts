import { Module } from '@nestjs/common';
import { documentLogs } from './document-logs.projection';
import { ListDocumentLogsHandler } from './queries/list-document-logs';

/** The view `document-logs`. */
@Module({ providers: [ListDocumentLogsHandler] })
export class DocumentLogsViewModule {
  static readonly projections = [documentLogs];
}
