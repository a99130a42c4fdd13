import type { CommandMeta } from './command-meta';
import type { EventDefinition } from './event-definition';
import { dataKeyName } from './keyring';
import type { StoredEvent } from './log-records';
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
  metadata.includes('"entity":') ? dataKeyIn(stream, JSON.parse(metadata) as Record<string, string>) : stream;

export const dataKeyIn = (stream: string, metadata: Readonly<Record<string, string>>): string =>
  dataKeyName(stream, metadata['entity']);

/** True if metadata have the form that `metadataOf` writes; a later version may add to it. Accepts any text. */
export const isOurMetadata = (metadata: string): boolean => {
  if (metadata.length > MOST_CHARACTERS || !metadata.includes('"commandId"')) return false;
  try {
    const value: unknown = JSON.parse(metadata);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return (
      ALWAYS.every((name) => Object.hasOwn(value, name)) &&
      Object.values(value).every((text) => typeof text === 'string')
    );
  } catch {
    return false;
  }
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Filled field by field, without spreading: this runs for every event of a rebuild. */
export const contextOf = (
  { id, stream, revision, position }: StoredEvent,
  metadata: Record<string, string>,
): EventContext => {
  const context: Mutable<EventContext> = {
    id,
    stream,
    revision,
    position,
    recordedAt: metadata['recordedAt'] ?? '',
    actor: metadata['actor'] ?? '',
    commandId: metadata['commandId'] ?? '',
    correlationId: metadata['$correlationId'] ?? '',
  };
  if (metadata['onBehalfOf'] !== undefined) context.onBehalfOf = metadata['onBehalfOf'];
  if (metadata['commandHash'] !== undefined) context.commandHash = metadata['commandHash'];
  if (metadata['requestId'] !== undefined) context.requestId = metadata['requestId'];
  if (metadata['$causationId'] !== undefined) context.causationId = metadata['$causationId'];
  return context;
};
