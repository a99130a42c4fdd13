import { type Aggregate, type AuditKind, type DeleteAgain, entityKey, type Erasure } from './aggregate';
import { type AnyEvent, EventCatalogue, type EventDefinition } from './event-definition';
import type { IntegrationDefinition, IntegrationEvent, Integrations, IntegrationMapping } from './integration-event';
import { textsAt } from './field-paths';
import { categoryOf, idOf } from './decider';
import { dataKeyPlace, type KeySelector } from './keyring';
import { storedObject } from './stored-json';
import type { StoredEvent } from './log-records';
import type { RecordedEvent } from './recorded-event';

/** Every kind of aggregate of the product, and what follows from their declarations. */
export class Aggregates {
  readonly catalogue: EventCatalogue;
  /** Where auditors find objects, by kind. */
  readonly kinds: Readonly<Record<string, AuditKind>>;
  /** Every kind of integration event. */
  readonly integrations: readonly IntegrationDefinition[];
  /** What integration events are about; each has a topic. */
  readonly subjects: readonly string[];
  /** Events that may erase content. */
  readonly erasingTypes: readonly string[];
  /** Those of them that may erase all of their stream. */
  readonly endingTypes: readonly string[];
  /** Events that others are told of. */
  readonly relayedTypes: readonly string[];
  private readonly byCategory: ReadonlyMap<string, Aggregate>;
  private readonly erasures: Readonly<Record<string, ((event: RecordedEvent) => KeySelector | undefined) | undefined>>;
  private readonly mapping: IntegrationMapping<AnyEvent>;

  /** Throws when two share a category, a kind, or the name of an event, an integration event or what erases. */
  constructor(all: readonly Aggregate[]) {
    this.byCategory = new Map(all.map((aggregate) => [aggregate.category, aggregate]));
    if (this.byCategory.size < all.length)
      throw new Error(`The category ${repeated(all.map(({ category }) => category))} is declared twice.`);
    // A kind of event may stand in streams of several kinds.
    this.catalogue = new EventCatalogue([...new Set(all.flatMap(({ events }) => events))], [...this.byCategory.keys()]);
    this.kinds = united(all.map(({ kinds }) => kinds));
    this.integrations = all.flatMap(({ integrations }) => integrations?.definitions ?? []);
    this.subjects = [...new Set(this.integrations.map(({ subject }) => subject))];
    this.erasures = united(all.map(({ erasure }) => ({ ...entityErasures(erasure), ...erasure?.by })));
    this.mapping = united(all.map(({ integrations }) => integrations?.mapping ?? {}));
    this.erasingTypes = Object.keys(this.erasures);
    this.endingTypes = all.flatMap(({ erasure }) => Object.keys(erasure?.by ?? {}));
    this.relayedTypes = Object.keys(this.mapping);
  }

  /** The keys that an event destroys; undefined where it erases nothing. */
  erasedBy(event: RecordedEvent): KeySelector | undefined {
    return this.erasures[event.type]?.(event);
  }

  /** The same for a stored event; undefined also for a damaged one. */
  erasedByStored({ type, data, stream }: Pick<StoredEvent, 'type' | 'data' | 'stream'>): KeySelector | undefined {
    // What erases says by ids which content: they are not encrypted, and all that is read of the event.
    const read = this.erasingTypes.includes(type) ? storedObject(data) : undefined;
    return read && this.erasedBy({ type, data: read, context: { stream } } as RecordedEvent);
  }

  /** Whether an event of the log erased what is under a key. */
  erases(event: Pick<StoredEvent, 'type' | 'data' | 'stream'>, key: string): boolean {
    const selector = this.erasedByStored(event);
    return selector !== undefined && 'stream' in selector && selector.stream === key;
  }

  /**
   * Deletes an aggregate or one of its entities again after a restore, by the name of its key; undefined if it is
   * deleted with its owner, or holds no content.
   */
  deletionOf(key: string): DeleteAgain | undefined {
    const { stream, entity } = dataKeyPlace(key);
    const erasure = this.byCategory.get(categoryOf(stream))?.erasure;
    if (entity !== undefined) {
      const again = erasure?.entities?.again;
      return again && ((decisions, id, meta) => again(decisions, id, entity, meta));
    }
    return erasure?.again === 'withOwner' ? undefined : erasure?.again;
  }

  /** Whether streams of a kind name stored bodies. */
  holdBlobs(stream: string): boolean {
    return this.byCategory.get(categoryOf(stream))?.events.some(({ blobs }) => blobs.held.length > 0) ?? false;
  }

  /**
   * The names of stored bodies in an event of the log: those that its aggregate holds from then on, and those that it
   * releases.
   */
  blobsIn({ type, data }: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }): {
    readonly held: readonly string[];
    readonly released: readonly string[];
  } {
    const fields = this.catalogue.find(type)?.blobs;
    return {
      held: fields?.held.flatMap((path) => textsAt(data, path)) ?? [],
      released: fields?.released.flatMap((path) => textsAt(data, path)) ?? [],
    };
  }

  /** The kinds of event that name stored bodies. */
  blobEvents(): readonly EventDefinition[] {
    return this.catalogue.all().filter(({ blobs }) => blobs.held.length + blobs.released.length > 0);
  }

  /** What others are told of an event; null: nothing. Throws when its definition is not declared, or promises something else. */
  integrationOf({ type, data, context }: RecordedEvent): IntegrationEvent | null {
    const told = this.mapping[type]?.(data, idOf(context.stream));
    if (told === undefined) return null;
    if (!this.integrations.includes(told.definition))
      throw new Error(
        `${told.definition.name} is told of ${type}, but not declared: enter it in the \`definitions\` of its aggregate.`,
      );
    return { ...told, data: told.definition.data.parse(told.data) };
  }

  /** Which streams of a category are private (`Integrations.isPrivate`); undefined where none is. */
  isPrivateOf(category: string): Integrations['isPrivate'] {
    return this.byCategory.get(category)?.integrations?.isPrivate;
  }
}

const entityErasures = (
  erasure: Erasure | undefined,
): Readonly<Record<string, (event: RecordedEvent) => KeySelector>> =>
  Object.fromEntries(
    Object.entries(erasure?.entities?.by ?? {}).flatMap(([type, entityOf]) =>
      entityOf === undefined ? [] : [[type, (event: RecordedEvent) => entityKey(event, entityOf(event))]],
    ),
  );

const repeated = (names: readonly string[]): string => names.find((name, index) => names.indexOf(name) !== index) ?? '';

const united = <T>(records: readonly Readonly<Record<string, T>>[]): Readonly<Record<string, T>> => {
  const twice = repeated(records.flatMap((record) => Object.keys(record)));
  if (twice !== '') throw new Error(`${twice} is declared by two aggregates.`);
  return Object.assign({}, ...records) as Readonly<Record<string, T>>;
};

/** A Nest module that lists the aggregates whose events it writes, also for programs that read the log without Nest. */
export interface AggregatesModule {
  new (...given: never[]): object;
  readonly aggregates: readonly Aggregate[];
}

/** Every kind of aggregate of some modules. */
export const aggregatesOf = (modules: readonly AggregatesModule[]): readonly Aggregate[] =>
  modules.flatMap(({ aggregates }) => aggregates);
