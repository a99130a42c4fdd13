export { GetRestatement } from './queries/get-restatement';
export { ListRestatements } from './queries/list-restatements';
export { RestatementsViewModule } from './restatements-view.module';
export { restatementRow, type RestatementRow } from './restatements.projection';
