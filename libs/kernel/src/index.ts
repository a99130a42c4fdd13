export * from './aggregate';
export * from './aggregates';
export type { Loaded } from './baselines';
export * from './canonical-json';
export * from './chunking';
export * from './clock';
export * from './command-meta';
export * from './command-steps';
export * from './config';
export * from './decider';
export * from './decisions';
export { sentenceIn } from './expected-errors';
export * from './errors';
export * from './event-codec';
export * from './event-definition';
export { dataKeyIn, dataKeyOf, isOurMetadata } from './event-metadata';
export * from './field-cipher';
export * from './field-paths';
export * from './fields';
export * from './folders';
export * from './ids';
export * from './integration-event';
export * from './issue-words';
export * from './keyring';
export * from './log-records';
export * from './logger';
export { Mutex, Semaphore, Grouped, Turns, coalesced } from './concurrency';
export * from './shared-lru-cache';
export * from './size-of';
export { type SnapshotFormat, type SnapshotStore, SNAPSHOT_EVENTS } from './snapshots';
export * from './money';
export * from './names';
export * from './place';
export { productRoot, productVersion } from './product-version';
export * from './retry';
export * from './provide-with';
export * from './read-scope';
export * from './recorded-event';
export * from './resources';
export * from './rest';
export * from './runtime';
export * from './secrets';
export {
  type Erased,
  ERASED,
  type Sensitive,
  isErased,
  revealed,
  sensitive,
  sensitiveFields,
  heldBlob,
  releasedBlobs,
  type BlobFields,
  blobFields,
} from './marked-fields';
export * from './thread';
export * from './thread-calls';
export * from './time-zone';
export { countTokens, TokenCount } from './token-count';
export * from './tokens';
export * from './wait-budget';
