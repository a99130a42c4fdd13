import { ListLimitsHandler } from './queries/list-limits';

export * from './limits.projection';
export * from './queries/list-limits';

export const limitQueryHandlers = [ListLimitsHandler];
