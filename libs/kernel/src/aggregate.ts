import type { CommandMeta } from './command-meta';
import type { Decisions } from './decisions';
import type { AnyEvent, EventDefinition, EventsOf } from './event-definition';
import type { Integrations } from './integration-event';
import { dataKeyName, type KeyOwner, type KeySelector } from './keyring';
import type { RecordedEvent } from './recorded-event';

/** Deletes an aggregate whose key is destroyed but which a restored or imported log shows as living. */
export type DeleteAgain = (decisions: Decisions, id: string, meta: CommandMeta) => Promise<unknown>;

/** How the content of an aggregate is erased, and stays erased. */
export interface Erasure<Event extends AnyEvent = AnyEvent> {
  /** The erasing events, each with the keys to destroy; undefined if this event erases nothing. */
  readonly by: {
    readonly [Type in Event['type']]?: (
      event: RecordedEvent<Extract<Event, { readonly type: Type }>>,
    ) => KeySelector | undefined;
  };
  /** `withOwner`: it is deleted with the user or Space that owns its key, also after a restore. */
  readonly again: DeleteAgain | 'withOwner';
  /** Its entities with their own data keys. Remaining ones are deleted with the aggregate. */
  readonly entities?: EntityErasure<Event>;
}

/** How entities of an aggregate are erased one by one. */
export interface EntityErasure<Event extends AnyEvent = AnyEvent> {
  /** The erasing events, each with the id of the entity whose key to destroy. */
  readonly by: {
    readonly [Type in Event['type']]?: (event: RecordedEvent<Extract<Event, { readonly type: Type }>>) => string;
  };
  /** As `Erasure.again`. Must append nothing where the log does not know the entity, or knows it as deleted. */
  readonly again: (decisions: Decisions, id: string, entity: string, meta: CommandMeta) => Promise<unknown>;
}

/** Where auditors find an object of a kind. */
export interface AuditKind {
  /** The stream of an object; null where objects share streams, and the view of audited objects knows which. */
  readonly stream: ((id: string) => string) | null;
  /** Streams of what the object belongs to, given its first event: their events change or end it too. */
  readonly related: (first: RecordedEvent) => readonly string[];
}

/** Everything the platform knows about one kind of aggregate. Catalogue, erasure, restore, blob sweep, audit and relay are derived from it. */
export interface Aggregate {
  /** Streams are `category-id`. */
  readonly category: string;
  readonly events: readonly EventDefinition[];
  /** The user or Space that its data keys belong to, by the first event of an append (`Decider.owner`). */
  readonly owner: ((event: never) => KeyOwner) | undefined;
  readonly erasure: Erasure | undefined;
  readonly integrations: Integrations | undefined;
  /** By the singular name of a resource (wire, Audit). */
  readonly kinds: Readonly<Record<string, AuditKind>>;
}

/** What an aggregate declares beside its decider and events. */
export interface AggregateDeclaration<Event extends AnyEvent> {
  /** Required if events hold sensitive fields or name stored bodies. */
  readonly erasure?: Erasure<Event>;
  readonly integrations?: Integrations<Event>;
  /** Required as `erasure` is; empty where auditors ask for none by its id, and read its events alone. */
  readonly kinds?: Readonly<Record<string, AuditKind>>;
}

/**
 * Declares one kind of aggregate. `of`: its decider, or the category of streams that are written without one. Throws
 * if content would outlive its deletion: a sensitive field or a stored body needs an owner whose erasure takes it along,
 * and an event that erases it alone, unless it goes `withOwner`. The sentence names the field.
 */
export const defineAggregate = <const List extends readonly EventDefinition[]>(
  of: { readonly category: string; readonly owner?: (event: never) => KeyOwner },
  events: List,
  { erasure, integrations, kinds }: AggregateDeclaration<EventsOf<List>> = {},
): Aggregate => {
  const aggregate = {
    category: of.category,
    events,
    owner: of.owner,
    erasure: erasure as Erasure | undefined,
    integrations: integrations as Integrations | undefined,
    kinds: kinds ?? {},
  };
  const [content] = [...sensitiveFields(events), ...bodyFields(events)];
  if (content !== undefined) assertContentDeclared(aggregate, kinds, content);
  const keyed = events.find(({ entity, sensitive }) => entity !== undefined && sensitive.length > 0);
  if (keyed !== undefined && Object.keys(erasure?.entities?.by ?? {}).length === 0)
    throw new Error(
      `${keyed.type}.${keyed.entity} names an entity with a data key of its own, but the aggregate ${of.category} does not say what erases it: declare \`erasure.entities\`.`,
    );
  for (const type of Object.keys({ ...erasure?.by, ...erasure?.entities?.by, ...integrations?.mapping })) {
    if (!events.some((event) => event.type === type))
      throw new Error(`The aggregate ${of.category} says what follows from ${type}, which is none of its events.`);
  }
  return Object.freeze(aggregate);
};

/** Content that must go with its aggregate, as `type.field`, and why. */
const sensitiveFields = (events: readonly EventDefinition[]): readonly string[] =>
  events.flatMap(({ type, sensitive }) => sensitive.map((field) => `${type}.${field} is sensitive`));

const bodyFields = (events: readonly EventDefinition[]): readonly string[] =>
  events.flatMap(({ type, blobs }) => blobs.held.map((field) => `${type}.${field} names a stored body`));

const assertContentDeclared = (
  { category, owner, erasure, events }: Aggregate,
  kinds: Aggregate['kinds'] | undefined,
  content: string,
): void => {
  const missing = (what: string, of = content): never => {
    throw new Error(`${of}, but the aggregate ${category} ${what}.`);
  };
  if (owner === undefined) return missing('has no owner to be erased with: give its decider `owner`');
  if (owner !== ownedByNobody && events.every(({ type }) => isOfNobody(owner, type)))
    return missing('names no owner for any of its events: return one from `owner`, or give it `ownedByNobody`');
  if (kinds === undefined)
    return missing('does not say how auditors find it: declare `kinds`, empty if they ask for it by no id');
  if (erasure === undefined) return missing('does not say what erases it: declare `erasure`');
  if (erasure.again === 'withOwner') return;
  if (Object.keys(erasure.by).length === 0) return missing('names no event that erases it: name one in `erasure.by`');
  const [body] = bodyFields(events);
  if (body !== undefined && events.every(({ blobs }) => blobs.released.length === 0))
    return missing('names no event that releases it: mark the field that does with `releasedBlobs`', body);
};

/** The `owner` of a decider whose aggregates outlive every user and Space. Only events of their own erase them. */
export const ownedByNobody = (): KeyOwner => ({});

const isOfNobody = (owner: NonNullable<Aggregate['owner']>, type: string): boolean =>
  // An event of the aggregate, of which the compiler does not know which it is.
  Object.keys(owner({ type, data: EACH_ITS_NAME } as never)).length === 0;

/** Stands for the data of any event: each field holds its own name. */
const EACH_ITS_NAME = new Proxy({}, { get: (_, name) => String(name) });

/** Erases with the key of the event's own stream. */
export const ownKey = ({ context }: RecordedEvent): KeySelector => ({ stream: context.stream });

/** Erases with the key of an entity in the event's stream. */
export const entityKey = ({ context }: RecordedEvent, entity: string): KeySelector => ({
  stream: dataKeyName(context.stream, entity),
});

/** An audited object with a stream of its own. */
export const ownStream = (category: string, related: AuditKind['related'] = () => []): AuditKind => ({
  stream: (id) => `${category}-${id}`,
  related,
});

/** An audited object that shares its stream with others. */
export const sharedStream = (related: AuditKind['related'] = () => []): AuditKind => ({ stream: null, related });

/** The stream of what a field of an object's first event names, if it names one. */
export const namedIn =
  (category: string, field: string): AuditKind['related'] =>
  (first) =>
    typeof first.data[field] === 'string' ? [`${category}-${first.data[field]}`] : [];
