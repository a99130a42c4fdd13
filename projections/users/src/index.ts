import { GetUserHandler } from './queries/get-user';
import { ListUsersHandler } from './queries/list-users';

export * from './queries/get-user';
export * from './queries/list-users';
export * from './users.projection';

export const userQueryHandlers = [GetUserHandler, ListUsersHandler];
