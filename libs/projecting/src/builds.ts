/** What the thread imports that rebuilds views over embedded stores. It loads no framework. */
export { rebuildWorker } from './rebuild/rebuild-worker';
