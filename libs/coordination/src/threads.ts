/** What threads import that read entries. It loads no store. */
export { allEntries } from './coordination-store';
