import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type UserRow, users } from '../users.projection';

/** Throws `not_found`. */
export class GetUser extends Query<UserRow> {
  constructor(readonly userId: string) {
    super();
  }
}

@QueryHandler(GetUser)
export class GetUserHandler implements IQueryHandler<GetUser> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ userId }: GetUser): Promise<UserRow> {
    return (
      ((await this.store.get(users.name, userId))?.row as UserRow | undefined) ??
      reject('not_found', { kind: 'user', id: userId })
    );
  }
}
