/** What threads import that write the embedded index. It loads no framework and no server's client. */
export { decodePassages, searchedPassage } from './passage-blob';
export { openSqliteSearchIndex } from './sqlite/sqlite-search-index';
