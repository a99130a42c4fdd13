/** What the thread that hashes events imports of the log. It loads no schemas and no framework. */
export * from './event-mac';
export { openLogReader } from './open-log';
