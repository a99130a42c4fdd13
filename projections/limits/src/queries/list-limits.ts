import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type LimitRow, limits } from '../limits.projection';

/** Spend limits, newest first; of one user and their keys, or all. */
export class ListLimits extends Query<RowPage<LimitRow>> {
  constructor(
    readonly userId: string | undefined,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListLimits)
export class ListLimitsHandler implements IQueryHandler<ListLimits> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ userId, page }: ListLimits): Promise<RowPage<LimitRow>> {
    return findPage<LimitRow>(
      this.store,
      limits.name,
      {
        where: { ...(userId === undefined ? {} : { userId }), isSet: true },
        orderBy: [{ field: 'createdAt', order: 'desc' }],
      },
      page,
    );
  }
}
