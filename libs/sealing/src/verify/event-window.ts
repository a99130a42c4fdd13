import type { StoredEvent } from '@app/kernel';
import { contentHash, isSealable, type SealedEvent } from '../event-hash';
import {
  type Damage,
  isDamage,
  isPassedOver,
  isForeignItem,
  type PassedOver,
  type SourceItem,
  type ForeignItem,
} from './verify-source';

/** An event of the log under verification. */
export interface FoundEvent extends SealedEvent {
  readonly position: string;
  readonly metadata: string;
  /** A foreign event: it need not be sealed, but an earlier version sealed everything on the server. */
  readonly isForeign: boolean;
  /** What the source could not read just before. */
  readonly damageBefore: Damage | undefined;
}

/** Under which an event is looked for. Others may give theirs an id of ours. */
const keyOf = ({
  id,
  stream,
  revision,
  isForeign,
}: Pick<FoundEvent, 'id' | 'stream' | 'revision' | 'isForeign'>): string =>
  isForeign ? `${id} ${revision} ${stream}` : id;

/** Events by where they are looked for, in the order in which they came. */
export class FoundEvents<Event extends FoundEvent = FoundEvent> {
  private readonly events = new Map<string, Event>();

  get size(): number {
    return this.events.size;
  }

  get first(): Event | undefined {
    return this.events.values().next().value;
  }

  values(): Iterable<Event> {
    return this.events.values();
  }

  /** False where it is there already. */
  add(event: Event): boolean {
    const key = keyOf(event);
    if (this.events.has(key)) return false;
    this.events.set(key, event);
    return true;
  }

  /** False where it is not there. */
  delete(event: Event): boolean {
    return this.events.get(keyOf(event)) === event && this.events.delete(keyOf(event));
  }

  /** The event that a seal lists: ours by its id, theirs by its place too. */
  find(entry: SealedEvent): Event | undefined {
    return this.events.get(entry.id) ?? this.events.get(keyOf({ ...entry, isForeign: true }));
  }
}

/** How far events are looked for from where they should stand. */
const SIZE = 2_000;

/** The next events of the log in order. */
export class EventWindow {
  private readonly events = new FoundEvents();
  private readonly source: AsyncIterator<SourceItem>;
  private foreignEvents = 0;
  private damage: Damage | undefined;
  private ended = false;

  constructor(
    events: AsyncIterable<SourceItem>,
    private readonly onEvent: (event: StoredEvent) => void,
    private readonly onForeign: (foreign: ForeignItem | PassedOver) => void,
    /** Told of a second event with an id that waits here already. */
    private readonly onDuplicate: (event: FoundEvent) => void,
  ) {
    this.source = events[Symbol.asyncIterator]();
  }

  /** Reads on until enough events are at hand or the log ends. */
  async fill(): Promise<void> {
    while (!this.ended && this.events.size < SIZE) {
      const next = await this.source.next();
      if (next.done === true) this.ended = true;
      else if (isDamage(next.value)) this.damage = next.value;
      else if (isPassedOver(next.value)) this.onForeign(next.value);
      else this.add(next.value);
    }
  }

  /** Damage at the very end, with nothing behind it. */
  get damageAtEnd(): Damage | undefined {
    return this.ended ? this.damage : undefined;
  }

  get first(): FoundEvent | undefined {
    return this.events.first;
  }

  /** What others wrote takes up places here: without it more of ours may be at hand. */
  get holdsForeign(): boolean {
    return this.foreignEvents > 0;
  }

  find(entry: SealedEvent): FoundEvent | undefined {
    return this.events.find(entry);
  }

  takeFirst(): FoundEvent | undefined {
    const { first } = this;
    if (first !== undefined) this.take(first);
    return first;
  }

  takeForeign(): readonly FoundEvent[] {
    const foreign = [...this.events.values()].filter(({ isForeign }) => isForeign);
    for (const event of foreign) this.take(event);
    return foreign;
  }

  private take(event: FoundEvent): void {
    this.events.delete(event);
    if (event.isForeign) this.foreignEvents -= 1;
  }

  private add(event: StoredEvent | ForeignItem): void {
    const isForeign = isForeignItem(event);
    if (isForeign) this.onForeign(event);
    else this.onEvent(event);
    if (!isForeign && !isSealable(event)) return;
    const { id, stream, revision, position } = event;
    const content = (isForeign ? event.content : undefined) ?? contentHash(event);
    const found: FoundEvent = {
      id,
      stream,
      revision,
      content,
      position,
      metadata: isForeign ? '' : event.metadata,
      isForeign,
      damageBefore: this.damage,
    };
    this.damage = undefined;
    if (!this.events.add(found)) this.onDuplicate(found);
    else if (isForeign) this.foreignEvents += 1;
  }
}
