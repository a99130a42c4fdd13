import type { CommandMeta } from './command-meta';
import { beforeWork } from './command-steps';
import type { AnyEvent, EventCatalogue, EventDefinition } from './event-definition';
import { contextOf, dataKeyIn, dataKeyOf, metadataOf } from './event-metadata';
import { decryptField, encryptField, isEncrypted } from './field-cipher';
import { changeAt } from './field-paths';
import { eventId } from './ids';
import { storedObject } from './stored-json';
import { type DataKey, dataKeyName, type KeyOwner, type Keyring } from './keyring';
import type { NewEvent, StoredEvent } from './log-records';
import type { RecordedEvent } from './recorded-event';
import { ERASED } from './erased';

/** Why a stored event cannot be read. A destroyed key is no reason: the field reads as erased. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';

  constructor(
    readonly reason: 'unknown_type' | 'schema' | 'newer_schema',
    readonly event: StoredEvent,
    detail: string,
    options?: ErrorOptions,
  ) {
    super(`event ${event.id} (${event.type}, ${event.stream}@${event.revision}): ${detail}`, options);
  }

  /** A later version of the product wrote it, as far as it says itself: that is no damage. */
  get isNewer(): boolean {
    return this.reason !== 'schema';
  }

  /** Where it stands. */
  get place(): string {
    return `${this.event.stream}@${this.event.revision}`;
  }
}

/** Turns domain events into stored ones and back: schema check, upcasting, encryption of sensitive fields. */
export class EventCodec {
  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly keyring: Keyring,
  ) {}

  /**
   * Checks each event against its schema and encrypts its sensitive fields under the data key of the stream, or of the
   * entity that it names. Throws `Unavailable` with the outcome `none` if the keys are unavailable.
   */
  async encode(stream: string, events: readonly AnyEvent[], meta: CommandMeta, owner: KeyOwner): Promise<NewEvent[]> {
    if (!this.catalogue.isOurStream(stream)) throw new Error(`the category of ${stream} is not in the catalogue`);
    const parsed = events.map((event) => {
      const definition = this.definitionOf(event.type);
      const data = definition.data.parse(event.data) as Record<string, unknown>;
      return { definition, data, entity: entityOf(definition, data) };
    });
    const names = parsed.flatMap(({ definition, entity }) =>
      definition.sensitive.length > 0 ? [dataKeyName(stream, entity)] : [],
    );
    const keys = new Map(
      await Promise.all(
        [...new Set(names)].map(
          async (name) => [name, await beforeWork(() => this.keyring.ensureKey(name, owner))] as const,
        ),
      ),
    );
    return parsed.map(({ definition, data, entity }, index) => {
      const key = keys.get(dataKeyName(stream, entity));
      return {
        id: eventId(meta.commandId, index),
        type: definition.type,
        data: JSON.stringify(key === undefined ? data : encrypted(data, definition, stream, key)),
        metadata: JSON.stringify(metadataOf(meta, definition, entity)),
      };
    });
  }

  /**
   * Reads stored events in order. Throws `UnreadableEvent` at the first that this program cannot understand.
   * Sensitive fields whose key is gone read as `ERASED`; so do those of types in `withoutContent`, which nobody decrypts.
   */
  async decode(
    events: readonly StoredEvent[],
    withoutContent: ReadonlySet<string> = NO_TYPES,
  ): Promise<RecordedEvent[]> {
    const isOpened = ({ type }: StoredEvent): boolean => !withoutContent.has(type);
    const keys = await this.keysOf(events.filter(isOpened));
    return events.map((event) => this.decodeWith(event, isOpened(event) ? keys : NO_KEYS));
  }

  /** The existing data keys that reading these events needs. */
  async keysOf(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, DataKey>> {
    const names = new Set<string>();
    for (const event of events) if (this.isSensitive(event.type)) names.add(dataKeyOf(event));
    return names.size > 0 ? this.keyring.keys([...names]) : NO_KEYS;
  }

  /** Reads one event with the given keys, for callers that page and continue after an unreadable one. */
  decodeWith(event: StoredEvent, keys: ReadonlyMap<string, DataKey>): RecordedEvent {
    const definition = this.catalogue.find(event.type);
    if (definition === undefined) throw new UnreadableEvent('unknown_type', event, 'unknown type');
    const metadata = storedObject(event.metadata) as Record<string, string> | undefined;
    if (metadata === undefined) throw new UnreadableEvent('schema', event, 'its metadata are no object');
    const key = keys.get(dataKeyIn(event.stream, metadata));
    const data = decrypted(upcast(event, definition, Number(metadata['schema'] ?? 1)), definition, event, key);
    const parsed = definition.data.safeParse(data);
    if (!parsed.success) throw new UnreadableEvent('schema', event, wrongFields(parsed.error.issues));
    return { type: event.type, data: parsed.data as Record<string, unknown>, context: contextOf(event, metadata) };
  }

  /** True for event types with encrypted content. */
  isSensitive(type: string): boolean {
    return (this.catalogue.find(type)?.sensitive.length ?? 0) > 0;
  }

  private definitionOf(type: string): EventDefinition {
    const definition = this.catalogue.find(type);
    if (definition === undefined) throw new Error(`event type ${type} is not in the catalogue`);
    return definition;
  }
}

/**
 * Reads type, place and metadata of an event, but not its data, which are empty in the result. Damaged metadata are
 * ignored.
 */
export const decodeContext = (event: StoredEvent): RecordedEvent => ({
  type: event.type,
  data: NO_DATA,
  context: contextOf(event, storedObject(event.metadata) ?? {}),
});

/** Where the fields are that a schema does not take, and why not, without what they hold. */
const wrongFields = (issues: readonly { readonly path: readonly PropertyKey[]; readonly code: string }[]): string =>
  issues
    .slice(0, MOST_SAID)
    .map(({ path, code }) => (path.length === 0 ? code : `${path.map(String).join('.')} ${code}`))
    .join(', ');
const MOST_SAID = 10;

const NO_DATA: Readonly<Record<string, unknown>> = Object.freeze({});
const NO_KEYS: ReadonlyMap<string, DataKey> = new Map();
const NO_TYPES: ReadonlySet<string> = new Set();

const upcast = (event: StoredEvent, definition: EventDefinition, schema: number): Record<string, unknown> => {
  if (!(Number.isInteger(schema) && schema >= 1))
    throw new UnreadableEvent('schema', event, 'its schema is no number from 1 on');
  if (schema > definition.schema)
    throw new UnreadableEvent('newer_schema', event, `schema ${schema}, known up to ${definition.schema}`);
  const data = storedObject(event.data) as Record<string, unknown> | undefined;
  if (data === undefined) throw new UnreadableEvent('schema', event, 'its data are no object');
  if (schema === definition.schema) return data;
  try {
    return definition.upcasters.slice(schema - 1).reduce((lifted, upcaster) => upcaster(lifted), data);
  } catch (cause) {
    throw new UnreadableEvent('schema', event, `its data are not of schema ${schema}`, { cause });
  }
};

/** Undefined for events without sensitive fields, too: their metadata say nothing of keys. */
const entityOf = ({ entity, sensitive }: EventDefinition, data: Record<string, unknown>): string | undefined => {
  const id = entity === undefined || sensitive.length === 0 ? undefined : data[entity];
  return typeof id === 'string' ? id : undefined;
};

/** In place: the schema check made objects and lists of its own. */
const encrypted = (
  data: Record<string, unknown>,
  definition: EventDefinition,
  stream: string,
  key: DataKey,
): Record<string, unknown> => {
  for (const path of definition.sensitive)
    changeAt(data, path, (value) => encryptField(key, fieldPlace(stream, path), value));
  return data;
};

const decrypted = (
  data: Record<string, unknown>,
  definition: EventDefinition,
  event: StoredEvent,
  key: DataKey | undefined,
): Record<string, unknown> => {
  if (definition.sensitive.length === 0) return data;
  const opened = (path: string, value: unknown): unknown => {
    if (!isEncrypted(value)) return value;
    if (key === undefined) return ERASED;
    try {
      return decryptField(key, fieldPlace(event.stream, path), value);
    } catch (cause) {
      throw new UnreadableEvent('schema', event, `${path} is not what was encrypted`, { cause });
    }
  };
  for (const path of definition.sensitive) changeAt(data, path, (value) => opened(path, value));
  return data;
};

/** Binds a ciphertext to its stream and field, so that it cannot be moved to another. Paths of fields are storage formats. */
export const fieldPlace = (stream: string, path: string): string => `${stream}/${path}`;
