import type { z } from 'zod';
import { type BlobFields, blobFields, hiddenField, plainTextFields, sensitiveFields } from './marked-fields';
import { categoryOf, streamOf } from './decider';
import { isOurMetadata } from './event-metadata';
import type { StoredEvent } from './log-records';

/** Converts data of one schema version to the next. Pure, and kept for ever. */
export type Upcaster = (data: Record<string, unknown>) => Record<string, unknown>;

/** One kind of event: its stored name, its current schema and how older data become it. */
export interface EventDefinition<Type extends string = string, Data extends z.ZodObject = z.ZodObject> {
  /** Past tense; a storage format that is never renamed. */
  readonly type: Type;
  /** Version of the data's shape, from 1. */
  readonly schema: number;
  readonly data: Data;
  /** What the event says, for the catalogue. */
  readonly description: string;
  /** Paths of the fields that are encrypted, under the data key of the stream or of `entity`. */
  readonly sensitive: readonly string[];
  /**
   * The field with the id of an entity that has its own data key for the sensitive fields. If the field is null or
   * absent, the stream's key is used. The metadata of each event say which key was used (`dataKeyOf`): events of an
   * earlier schema without an entity stay under the stream's key.
   */
  readonly entity?: string;
  /** Paths of the fields that name stored bodies. */
  readonly blobs: BlobFields;
  /** `upcasters[i]` turns schema i+1 into i+2. */
  readonly upcasters: readonly Upcaster[];
}

/** The event union member of a definition: `{ type, data }`. */
export type EventOf<D extends EventDefinition> =
  D extends EventDefinition<infer Type, infer Data> ? { readonly type: Type; readonly data: z.output<Data> } : never;

/** The union of the events of a list of definitions. */
export type EventsOf<List extends readonly EventDefinition[]> = EventOf<List[number]>;

/** An event before it is appended, of whichever type. */
export interface AnyEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** Declares one kind of event. The schema number is one more than the upcasters. Throws where text that people enter (`nameSchema`, `textSchema`) would not be encrypted, and where a marked field stands in a schema that nothing looks into. */
export const defineEvent = <Type extends string, Data extends z.ZodObject>(definition: {
  type: Type;
  description: string;
  data: Data;
  entity?: string & keyof z.output<Data>;
  upcasters?: readonly Upcaster[];
}): EventDefinition<Type, Data> => {
  const upcasters = definition.upcasters ?? [];
  const hidden = hiddenField(definition.data);
  if (hidden !== undefined)
    throw new Error(
      `${definition.type}.${hidden} holds a marked schema where nothing finds it. Mark the whole field, or use an object, a list or a union.`,
    );
  const [plain] = plainTextFields(definition.data);
  if (plain !== undefined)
    throw new Error(
      `${definition.type}.${plain} is text that people enter: mark it as \`sensitive\`, so that it is encrypted.`,
    );
  return Object.freeze({
    ...definition,
    upcasters,
    schema: upcasters.length + 1,
    sensitive: sensitiveFields(definition.data),
    blobs: blobFields(definition.data),
  });
};

/** All kinds of event that this program knows, by stored name, and the categories of the streams that hold them. */
export class EventCatalogue {
  private readonly definitions = new Map<string, EventDefinition>();
  /** What the names of our streams begin with; undefined where every stream counts as ours. */
  readonly streamPrefixes: readonly string[] | undefined;
  private readonly categories: ReadonlySet<string> | undefined;

  /** Without categories every stream counts as ours. Throws when two definitions share a name. */
  constructor(definitions: readonly EventDefinition[], categories?: readonly string[]) {
    this.categories = categories && new Set(categories);
    this.streamPrefixes = categories?.map((category) => streamOf(category, ''));
    for (const definition of definitions) {
      if (this.definitions.has(definition.type)) throw new Error(`event type ${definition.type} is defined twice`);
      this.definitions.set(definition.type, definition);
    }
  }

  find(type: string): EventDefinition | undefined {
    return this.definitions.get(type);
  }

  all(): readonly EventDefinition[] {
    return [...this.definitions.values()].toSorted((a, b) => a.type.localeCompare(b.type));
  }

  /** Whether a stream has a name as ours have: its category is in the catalogue. */
  isOurStream(stream: string): boolean {
    return this.categories?.has(categoryOf(stream)) ?? true;
  }

  /**
   * Whether this product wrote an event, in any version: the category of its stream is in the catalogue and its metadata are ours. Its
   * type says nothing: others may use the same names, and an earlier version does not know those of a later one.
   */
  isOurs({ stream, metadata }: Pick<StoredEvent, 'stream' | 'metadata'>): boolean {
    return this.isOurStream(stream) && isOurMetadata(metadata);
  }
}
