export { afterWaiting } from './after-waiting';
export { type AuditKind, defineAggregate, namedIn, ownedByNobody, ownKey, ownStream, sharedStream } from './aggregate';
export { Aggregates, type AggregatesModule, aggregatesOf } from './aggregates';
export { chunkingSchema, type Chunking } from './chunking';
export { type Clock, systemClock, isoTime, LAST_TIME } from './clock';
export type { CommandMeta, CommandProgress, Receipt } from './command-meta';
export { stepOf, unlessLeft, beforeWork, reactionTo } from './command-steps';
export {
  configSchema,
  type Config,
  InvalidConfig,
  readConfig,
  mayShare,
  hasEmbeddedStore,
  type Environment,
  readEnvironment,
} from './config';
export { type Decider, streamOf, categoryOf, idOf } from './decider';
export { MAX_ATTEMPTS, Decisions } from './decisions';
export { sentenceIn } from './expected-errors';
export { eachOfAll } from './each-of-all';
export { UnreadableEvent, EventCodec, decodeContext, fieldPlace } from './event-codec';
export {
  type EventDefinition,
  type EventOf,
  type EventsOf,
  type AnyEvent,
  defineEvent,
  EventCatalogue,
} from './event-definition';
export { dataKeyIn, dataKeyOf } from './event-metadata';
export { storedObject, storedMeta } from './stored-json';
export { FairSemaphore } from './fair-semaphore';
export { type EncryptedField, isEncrypted, encryptField, decryptField } from './field-cipher';
export { changeAt, textsAt, changedThroughout } from './field-paths';
export { givenFields, changedFields } from './fields';
export { makeFolder, assertFolder, syncToDisk } from './folders';
export { GatheredBytes, inBlocks } from './gathered-bytes';
export { GatheredText } from './gathered-text';
export { type Uuid, type Ids, TimeOrderedIds, deriveId, eventId, nameId } from './ids';
export {
  type IntegrationDefinition,
  type IntegrationEvent,
  type Integrations,
  defineIntegration,
  integrationEvent,
  given,
  integrationTypeOf,
  integrationSchemaIdOf,
} from './integration-event';
export { issueWords, asSentence, sentenceAbout } from './issue-words';
export { type StreamReader, type StreamLog, type ReadIndex, isWrongExpectedRevision, isDeleted } from './log-records';
export { type Logger, errorName, reasonOf } from './logger';
export { Mutex, Queues, Semaphore, Grouped, Turns, coalesced } from './concurrency';
export { REMEMBERED, SharedLruCache } from './shared-lru-cache';
export { sizeOf } from './size-of';
export { type SnapshotFormat } from './snapshots';
export { amountText, givenAmount, nanoText, nanoUnits, decimalAmount } from './money';
export { nameSchema, textSchema } from './name-schemas';
export { placeFields } from './place-fields';
export { productRoot, productVersion } from './product-version';
export { type Warning, type RetryOptions, retry, retryUntilAnswered } from './retry';
export { provideWith } from './provide-with';
export { moment, renewReadScope, servesReadScope } from './read-scope';
export type { EventContext, RecordedEvent } from './recorded-event';
export { type Closable, Resources } from './resources';
export { assertRuntime } from './runtime';
export { equalSecrets, InstanceSecret } from './secrets';
export { sensitive, heldBlob, releasedBlobs } from './marked-fields';
export * from './threads';
export { timeZoneName } from './time-zone';
export { CLOCK, IDS, CONFIG, ENVIRONMENT, LOGGER, PRODUCT_VERSION, DATA_FOLDER } from './tokens';
export { unfinishedName, unfinishedBeside } from './unfinished-file';
export { WAIT_MS, RECALL_AFTER_MS, WaitBudget, onBudget, offBudget, waitBudget, waiting } from './wait-budget';
