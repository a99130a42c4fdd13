import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog } from '@app/event-log';
import {
  type DataKey,
  dataKeyOf,
  decodeContext,
  type EventCodec,
  isErased,
  type Json,
  type Keyring,
  type Position,
  type RecordedEvent,
  type StoredEvent,
} from '@app/kernel';
import { isWithin, type Moment } from './moment';
import { ENCRYPTED, holdsContent } from './shown-event';
import { inLogOrder, STREAMS_AT_ONCE, streamPages } from './stream-pages';

/** Where an object's events stand. */
export interface ObjectPlace {
  readonly streams: readonly string[];
  /** Event types that its view reads. */
  readonly types: readonly string[];
  /** Further streams whose events change it, found in its first event: those of what it belongs to. */
  readonly related: (first: RecordedEvent) => readonly string[];
}

/** A moment of an object: also one of the revisions of its own stream. */
export type ObjectMoment = Moment | { readonly revision: number };

/** The events that made an object what it is, counted and not held. */
export interface ObjectEvents {
  readonly streams: readonly string[];
  readonly types: ReadonlySet<string>;
  /** The data keys that exist, by name. */
  readonly keys: ReadonlyMap<string, DataKey>;
  readonly count: number;
  readonly first: Position;
  readonly last: Position;
  /** Whether they hold content that is not erased. */
  readonly holdContent: boolean;
  /** The last event up to the moment asked for; null where none is, or where there never was such a revision. */
  readonly upTo: Position | null;
}

/** Milliseconds after which others may run. */
const TURN_MS = 8;
const NO_KEYS = new Map<string, never>();

/** Reads the events of one object in pages, twice: to know what they are, and then as somebody may see them. */
export class ObjectReader {
  constructor(
    private readonly log: Pick<EventLog, 'readStream'>,
    private readonly codec: EventCodec,
    private readonly keyring: Keyring,
  ) {}

  /** What an object's events are; undefined where it has none. Nothing is decrypted. */
  async find(
    { streams, types, related }: ObjectPlace,
    moment?: ObjectMoment,
    signal?: AbortSignal,
  ): Promise<ObjectEvents | undefined> {
    const known = new Set(types);
    const own = await this.survey(streams, known, moment, signal);
    if (own.first === undefined) return undefined;
    const further = related(this.codec.decodeWith(own.first, NO_KEYS));
    // A revision is one of the own streams; what others did up to then is found by its position.
    const isRevision = moment !== undefined && 'revision' in moment;
    const others = await this.survey(further, known, isRevision ? undefined : moment, signal);
    const ends = isRevision ? [own] : [own, others];
    const isReached = !isRevision || own.revision >= moment.revision;
    return {
      streams: [...streams, ...further],
      types: known,
      keys: new Map([...own.keys, ...others.keys]),
      count: own.count + others.count,
      first: [own.first, ...(others.first === undefined ? [] : [others.first])].toSorted(byPosition)[0]?.position ?? '',
      last: latest(own.last, others.last) ?? '',
      holdContent: own.holdContent || others.holdContent,
      upTo: isReached ? ends.map(({ upTo }) => upTo).reduce(latest, null) : null,
    };
  }

  /** The events up to the moment that was asked for, in log order. Without `content` nothing is decrypted: what is sensitive reads as erased. */
  async *read(
    { streams, types, keys, upTo }: ObjectEvents,
    content: boolean,
    signal?: AbortSignal,
  ): AsyncGenerator<RecordedEvent> {
    if (upTo === null) return;
    const turn = new Turn(signal);
    for await (const event of inLogOrder(this.log, streams, types)) {
      if (event.position > upTo) return;
      yield this.codec.decodeWith(event, content ? keys : NO_KEYS);
      await turn.end();
    }
  }

  private async survey(
    streams: readonly string[],
    types: ReadonlySet<string>,
    moment: ObjectMoment | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Survey> {
    const survey = new Survey(types, moment);
    const turn = new Turn(signal);
    for (let from = 0; from < streams.length; from += STREAMS_AT_ONCE) {
      const some = streams.slice(from, from + STREAMS_AT_ONCE);
      await Promise.all(
        some.map(async (stream) => {
          for await (const page of streamPages(this.log, stream, some.length)) {
            survey.open(await this.keyring.keys([...new Set(page.map(dataKeyOf))]));
            for (const event of page) {
              survey.add(event);
              await turn.end();
            }
          }
        }),
      );
    }
    return survey;
  }
}

/** What is told of the events of some streams in any order. */
class Survey {
  readonly keys = new Map<string, DataKey>();
  count = 0;
  first: StoredEvent | undefined;
  last: Position | null = null;
  /** The last revision of any of the streams, whatever its type. */
  revision = -1;
  upTo: Position | null = null;
  holdContent = false;

  constructor(
    private readonly types: ReadonlySet<string>,
    private readonly moment: ObjectMoment | undefined,
  ) {}

  open(keys: ReadonlyMap<string, DataKey>): void {
    for (const [stream, key] of keys) this.keys.set(stream, key);
  }

  add(event: StoredEvent): void {
    this.revision = Math.max(this.revision, event.revision);
    if (!this.types.has(event.type)) return;
    this.count += 1;
    if (this.first === undefined || byPosition(event, this.first) < 0) this.first = event;
    this.last = latest(this.last, event.position);
    if (this.isUpTo(event)) this.upTo = latest(this.upTo, event.position);
    this.holdContent ||= holdsContent(event, this.keys);
  }

  private isUpTo(event: StoredEvent): boolean {
    if (this.moment === undefined) return true;
    return 'revision' in this.moment
      ? event.revision <= this.moment.revision
      : isWithin(this.moment, decodeContext(event).context);
  }
}

/** Lets others run when work has taken its time, and ends it where it was called off. */
class Turn {
  private ends = performance.now() + TURN_MS;

  constructor(private readonly signal: AbortSignal | undefined) {}

  async end(): Promise<void> {
    this.signal?.throwIfAborted();
    if (performance.now() < this.ends) return;
    await nextTurn();
    this.ends = performance.now() + TURN_MS;
  }
}

/** What reads as erased only because it was not decrypted reads `{ encrypted: true }`. */
export const concealed = (value: Json): Json => {
  if (isErased(value)) return { ...ENCRYPTED };
  if (Array.isArray(value)) return value.map(concealed);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, concealed(member)]))
    : value;
};

const latest = (a: Position | null, b: Position | null): Position | null =>
  a === null || (b !== null && b > a) ? b : a;

const byPosition = (a: StoredEvent, b: StoredEvent): number => (a.position < b.position ? -1 : 1);
