/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './invocations/invocation.events';
export * from './limits/limit.events';
export * from './restatement/restatement.events';
export * from './usage/usage-report';
