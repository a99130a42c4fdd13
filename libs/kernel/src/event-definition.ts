import type { z } from 'zod';
import { sensitiveFields } from './sensitive';

/** Lifts the data of one schema version to the next: pure, and kept for ever. */
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
  /** Paths of the fields that are encrypted under the stream's data key. */
  readonly sensitive: readonly string[];
  /** `upcasters[i]` turns schema i+1 into i+2. */
  readonly upcasters: readonly Upcaster[];
}

/** The event union member of a definition: `{ type, data }`. */
export type EventOf<D extends EventDefinition> = D extends EventDefinition<infer Type, infer Data>
  ? { readonly type: Type; readonly data: z.output<Data> }
  : never;

/** The union of the events of a list of definitions. */
export type EventsOf<List extends readonly EventDefinition[]> = EventOf<List[number]>;

export interface AnyEvent {
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** Declares one kind of event. The schema number is one more than the upcasters. */
export const defineEvent = <Type extends string, Data extends z.ZodObject>(definition: {
  type: Type;
  description: string;
  data: Data;
  upcasters?: readonly Upcaster[];
}): EventDefinition<Type, Data> => {
  const upcasters = definition.upcasters ?? [];
  return Object.freeze({ ...definition, upcasters, schema: upcasters.length + 1, sensitive: sensitiveFields(definition.data) });
};

/** All kinds of event that this program knows, by stored name. */
export class EventCatalogue {
  private readonly definitions = new Map<string, EventDefinition>();

  /** Throws when two definitions share a name. */
  constructor(definitions: readonly EventDefinition[]) {
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
}
