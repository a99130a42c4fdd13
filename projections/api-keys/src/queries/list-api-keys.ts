import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ApiKeyRow, apiKeys } from '../api-keys.projection';

/** The API keys of a user, newest first. */
export class ListApiKeys extends Query<RowPage<ApiKeyRow>> {
  constructor(
    readonly userId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListApiKeys)
export class ListApiKeysHandler implements IQueryHandler<ListApiKeys> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ userId, page }: ListApiKeys): Promise<RowPage<ApiKeyRow>> {
    return findPage<ApiKeyRow>(
      this.store,
      apiKeys.name,
      { where: { userId }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      page,
    );
  }
}
