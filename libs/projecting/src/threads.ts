/** What the thread imports that catches up views of context alone. It loads no schemas of events, no framework and no other store. */
export { contextWorker } from './rebuild/context-worker';
