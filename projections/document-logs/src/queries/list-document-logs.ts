import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type DocumentLogRow, documentLogs } from '../document-logs.projection';

/** The ingestion log of a document, newest line first. */
export class ListDocumentLogs extends Query<RowPage<DocumentLogRow>> {
  constructor(
    readonly documentId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListDocumentLogs)
export class ListDocumentLogsHandler implements IQueryHandler<ListDocumentLogs> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ documentId, page }: ListDocumentLogs): Promise<RowPage<DocumentLogRow>> {
    return findPage<DocumentLogRow>(
      this.store,
      documentLogs.name,
      { where: { documentId }, orderBy: [{ field: 'sequence', order: 'desc' }] },
      page,
    );
  }
}
