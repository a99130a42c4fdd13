import { Module } from '@nestjs/common';
import { users } from './users.projection';
import { GetUserHandler } from './queries/get-user';
import { ListUsersHandler } from './queries/list-users';

/** The view `users`. */
@Module({ providers: [GetUserHandler, ListUsersHandler] })
export class UsersViewModule {
  static readonly projections = [users];
}
