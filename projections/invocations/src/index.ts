export * from './invocation-pages';
export { InvocationsViewModule } from './invocations-view.module';
export * from './invocations.projection';
export * from './queries/get-invocation';
export * from './queries/list-invocations';
export * from './replay-limit';
export * from './usage-in';
