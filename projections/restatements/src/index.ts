export * from './queries/get-restatement';
export * from './queries/list-restatements';
export { RestatementsViewModule } from './restatements-view.module';
export * from './restatements.projection';
