export { GetUser } from './queries/get-user';
export { ListUsers } from './queries/list-users';
export { UsersViewModule } from './users-view.module';
export { userRow, type UserRow, users } from './users.projection';
