import { GetRestatementHandler } from './queries/get-restatement';
import { ListRestatementsHandler } from './queries/list-restatements';

export * from './open-restatements';
export * from './queries/get-restatement';
export * from './queries/list-restatements';
export * from './restatements.projection';

export const restatementQueryHandlers = [GetRestatementHandler, ListRestatementsHandler];
