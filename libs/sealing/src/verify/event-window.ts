import type { StoredEvent } from '@app/kernel';
import { contentHash, type SealedEvent } from '../event-hash';
import { isSealable } from '../seal';
import { type Damage, isDamage } from './verify-source';

/** An event of the log under verification. */
export interface FoundEvent extends SealedEvent {
  readonly position: string;
  readonly metadata: string;
  /** What the source could not read just before. */
  readonly damageBefore: Damage | undefined;
}

/** How far events are looked for from where they should stand. */
const SIZE = 2_000;

/** The next events of the log, by id and in order. */
export class EventWindow {
  private readonly events = new Map<string, FoundEvent>();
  private readonly source: AsyncIterator<StoredEvent | Damage>;
  private damage: Damage | undefined;
  private ended = false;

  constructor(
    events: AsyncIterable<StoredEvent | Damage>,
    private readonly onEvent: (event: StoredEvent) => void,
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
      else this.add(next.value);
    }
  }

  /** Damage at the very end, with nothing behind it. */
  get damageAtEnd(): Damage | undefined {
    return this.ended ? this.damage : undefined;
  }

  get first(): FoundEvent | undefined {
    return this.events.values().next().value;
  }

  has(id: string): boolean {
    return this.events.has(id);
  }

  takeFirst(): FoundEvent | undefined {
    const { first } = this;
    if (first !== undefined) this.events.delete(first.id);
    return first;
  }

  private add(event: StoredEvent): void {
    this.onEvent(event);
    if (!isSealable(event)) return;
    const { id, stream, revision, position } = event;
    const found: FoundEvent = { id, stream, revision, content: contentHash(event), position, metadata: event.metadata, damageBefore: this.damage };
    this.damage = undefined;
    if (this.events.has(id)) this.onDuplicate(found);
    else this.events.set(id, found);
  }
}
