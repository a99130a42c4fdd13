export {
  SEARCH_INDEX,
  type Passage,
  type Scope,
  type SearchOperation,
  type SearchQuery,
  type SearchHit,
  type SearchIndex,
} from './search-index';
export { indexedTerms, languageOf, plainLetters, queryTerms } from './language/terms';
export { joinedCodes, withCodesJoined } from './language/joined';
export { openSqliteSearchIndex } from './sqlite/sqlite-search-index';
export { openElasticsearchIndex } from './elasticsearch/elasticsearch-search-index';
export { decodePassages, encodePassages, passagesFrom, searchedPassage, type StoredPassage } from './passage-blob';
export { SearchIndexModule, openSearchIndex } from './search-index.module';
