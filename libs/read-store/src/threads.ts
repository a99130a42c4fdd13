/** What threads of embedded stores import: files of SQLite, and the errors of views. It loads no schemas and no framework. */
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
} from './read-store';
export { GuardedFiles, loadDriver, openForReading } from './sqlite/sqlite-file';
export { EntryReader, openStateFile, writeEntry } from './sqlite/state-file';
export { STATE_FILE } from './sqlite/view-files';
export { VersionedFiles } from './sqlite/versioned-files';
export { readSlicePlace, writeSlicePlace } from './sqlite/slice-places';
