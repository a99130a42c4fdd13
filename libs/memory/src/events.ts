/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './lookups';
export * from './memory/memory.events';
