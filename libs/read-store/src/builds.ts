/** What the thread imports that catches up views of context alone: the embedded store, without the framework and without servers. */
export { openSqliteReadStore } from './sqlite/sqlite-read-store';
