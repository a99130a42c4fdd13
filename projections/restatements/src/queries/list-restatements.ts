import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type RestatementRow, restatements } from '../restatements.projection';

/** Restatements, newest first. */
export class ListRestatements extends Query<RowPage<RestatementRow>> {
  constructor(readonly page: PageRequest) {
    super();
  }
}

@QueryHandler(ListRestatements)
export class ListRestatementsHandler implements IQueryHandler<ListRestatements> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ page }: ListRestatements): Promise<RowPage<RestatementRow>> {
    return findPage<RestatementRow>(
      this.store,
      restatements.name,
      { where: {}, orderBy: [{ field: 'startedAt', order: 'desc' }] },
      page,
    );
  }
}
