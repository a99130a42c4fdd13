import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type UserRow, users } from '../users.projection';

/** All users, newest first. */
export class ListUsers extends Query<RowPage<UserRow>> {
  constructor(readonly page: PageRequest) {
    super();
  }
}

@QueryHandler(ListUsers)
export class ListUsersHandler implements IQueryHandler<ListUsers> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ page }: ListUsers): Promise<RowPage<UserRow>> {
    return findPage<UserRow>(
      this.store,
      users.name,
      { where: {}, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      page,
    );
  }
}
