/** What views import of this context: its events, and the shapes and names that they show. It loads no framework. */
export * from './section-summary/section-summary.events';
export * from './summary-index/summary-index.events';
