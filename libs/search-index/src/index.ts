export * from './search-index';
