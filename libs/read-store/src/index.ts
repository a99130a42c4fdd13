export {
  READ_STORE,
  type Row,
  type StoredRow,
  type IndexSpec,
  type ViewSpec,
  type Operation,
  type Checkpoint,
  type RowBatch,
  type FindOptions,
  type BuildFile,
  type ReadStore,
  CheckpointMismatch,
  Fenced,
  UniqueViolation,
} from './threads';
export { type PageStart, type PageRequest, type RowPage, PAGE_SIZE, findPage, fitting, pagesOf } from './find-page';
export { matchingPage } from './matching-page';
export { newestOf, newestFirst } from './newest-of';
export { openSqliteReadStore } from './sqlite/sqlite-read-store';
export { openMongoReadStore } from './mongo/mongo-read-store';
export { areDuplicateKeys } from './mongo/mongo-errors';
export { rowSchema } from './mongo/row-schema';
export { type Entries, entriesOn } from './mongo/state-entries';
export { type MongoServer, openMongoServer } from './mongo/mongo-server';
export { ReadStoreModule, openReadStore } from './read-store.module';
