import { ListInvocationsHandler } from './queries/list-invocations';

export * from './invocation-pages';
export * from './invocations.projection';
export * from './queries/list-invocations';
export * from './replay-limit';
export * from './usage-in';

export const invocationQueryHandlers = [ListInvocationsHandler];
