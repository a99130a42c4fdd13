export * from './queries/get-user';
export * from './queries/list-users';
export { UsersViewModule } from './users-view.module';
export * from './users.projection';
