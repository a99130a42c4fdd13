export { filteredPages, type InvocationFilter, type WantedInvocations, invocationPages } from './invocation-pages';
export { InvocationsViewModule } from './invocations-view.module';
export { invocationRow, type InvocationRow, INVOCATION_FILTERS, invocations } from './invocations.projection';
export { GetInvocation } from './queries/get-invocation';
export { ListInvocations } from './queries/list-invocations';
export { replayLimit } from './replay-limit';
export { filterOfScope, usageIn, recordedCost } from './usage-in';
