/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './document/asker';
export * from './document/document.events';
export * from './document/serving.events';
export * from './lookups';
export * from './reindex/reindex.events';
export * from './tags/tag.events';
