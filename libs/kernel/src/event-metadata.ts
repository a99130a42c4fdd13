import type { CommandMeta } from './command-meta';
import type { EventDefinition } from './event-definition';
import { dataKeyName } from './keyring';
import type { StoredEvent } from './log-records';
import { storedMeta, storedObject } from './stored-json';
import type { EventContext } from './recorded-event';

/** What every event of ours says of itself, in this version and in all before it. Names are storage formats. */
const ALWAYS = ['$correlationId', '$causationId', 'commandId', 'actor', 'schema', 'recordedAt'] as const;
/** Ours are below two thousand characters: longer text is not read to find out whose it is. */
const MOST_CHARACTERS = 16_384;

/** The metadata of an event: a JSON object of flat strings. `entity`: the one whose data key its sensitive fields are under. */
export const metadataOf = (
  meta: CommandMeta,
  { schema }: EventDefinition,
  entity: string | undefined,
): Record<string, string> => ({
  $correlationId: meta.correlationId,
  $causationId: meta.causationId ?? meta.commandId,
  commandId: meta.commandId,
  ...(meta.commandHash === undefined ? {} : { commandHash: meta.commandHash }),
  actor: meta.actor,
  ...(meta.onBehalfOf === undefined ? {} : { onBehalfOf: meta.onBehalfOf }),
  ...(meta.requestId === undefined ? {} : { requestId: meta.requestId }),
  ...(entity === undefined ? {} : { entity }),
  schema: String(schema),
  recordedAt: meta.now.toISOString(),
});

/** The name of the data key that an event's sensitive fields are under, if it has any. Takes events of any type, known or not. */
export const dataKeyOf = ({ stream, metadata }: Pick<StoredEvent, 'stream' | 'metadata'>): string =>
  metadata.includes('"entity":') ? dataKeyIn(stream, storedMeta(metadata)) : stream;

/** The name of the data key of an event: that of the entity in its metadata, or of its stream. */
export const dataKeyIn = (stream: string, metadata: Readonly<Record<string, string>>): string =>
  dataKeyName(stream, metadata['entity']);

/** True if metadata have the form that `metadataOf` writes; a later version may add to it. Accepts any text. */
export const isOurMetadata = (metadata: string): boolean => {
  if (metadata.length > MOST_CHARACTERS || !metadata.includes('"commandId"')) return false;
  const value = storedObject(metadata);
  return (
    value !== undefined &&
    ALWAYS.every((name) => Object.hasOwn(value, name)) &&
    Object.values(value).every((text) => typeof text === 'string')
  );
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Filled field by field, without spreading: this runs for every event of a rebuild. Damaged values that are not text
 * are left out.
 */
export const contextOf = (
  { id, stream, revision, position }: StoredEvent,
  metadata: Readonly<Record<string, unknown>>,
): EventContext => {
  const context: Mutable<EventContext> = {
    id,
    stream,
    revision,
    position,
    recordedAt: textOf(metadata['recordedAt']),
    actor: textOf(metadata['actor']),
    commandId: textOf(metadata['commandId']),
    correlationId: textOf(metadata['$correlationId']),
  };
  const { onBehalfOf, commandHash, requestId, $causationId: causationId } = metadata;
  if (typeof onBehalfOf === 'string') context.onBehalfOf = onBehalfOf;
  if (typeof commandHash === 'string') context.commandHash = commandHash;
  if (typeof requestId === 'string') context.requestId = requestId;
  if (typeof causationId === 'string') context.causationId = causationId;
  return context;
};
