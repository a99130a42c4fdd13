import type { SealedEvent } from '../event-hash';
import type { ClaimedRemovals, UnprovenRemoval } from './claimed-removals';
import { EventWindow, type FoundEvent, FoundEvents } from './event-window';
import type { Findings } from './findings';
import type { SealedErasures } from './sealed-erasures';
import { SeenEntries } from './seen-entries';
import { MOST_LISTED, type UnprovenEvent } from './verification';
import type { Damage, PassedOver, SourceItem, ForeignItem } from './verify-source';

/** How many events that were passed over are remembered. */
const PASSED_OVER = 2_000;

/** With the ordinal of the sealed event that it stands before. */
type PassedEvent = FoundEvent & { readonly ordinal: number };

/** Compares the events of the log, in order, with those that the seals list, in order. */
export class Alignment {
  events = 0;
  private readonly window: EventWindow;
  /** Events met before their turn; those that never get one were inserted. */
  private readonly passedOver = new FoundEvents<PassedEvent>();
  /** What others wrote: in which order it was sealed, if it was, proves nothing. */
  private readonly passedForeign = new FoundEvents();
  /** Entries of unreadable seals: this many events may have no entry. */
  private unlisted = 0;
  private lastOrdinal = 0;
  private readonly seen = new SeenEntries();
  private inDamage: Damage | undefined;

  constructor(
    events: AsyncIterable<SourceItem>,
    private readonly removals: ClaimedRemovals,
    private readonly findings: Findings,
    private readonly erasures: SealedErasures,
    onForeign: (foreign: ForeignItem | PassedOver) => void,
  ) {
    this.window = new EventWindow(
      events,
      (event) => erasures.meet(event),
      onForeign,
      (event) => this.inserted({ ...event, ordinal: this.lastOrdinal }),
    );
  }

  /** The seals of so many events are lost. */
  skip(count: number): void {
    this.unlisted += count;
    this.lastOrdinal += count;
  }

  /** The next event that the seals list. */
  async expect(entry: SealedEvent): Promise<void> {
    this.lastOrdinal += 1;
    if (!this.seen.add(entry))
      this.findings.add({
        kind: 'repeated',
        detail: 'the event was sealed before: it is in the log a second time',
        ...this.placeOf(entry),
      });
    const early = this.passedOver.find(entry);
    if (early !== undefined) {
      this.passedOver.delete(early);
      this.findings.add({
        kind: 'reordered',
        detail: 'the event is out of order: it precedes events that were sealed before it',
        ...this.placeOf(entry, early),
      });
      this.compare(entry, early);
      return;
    }
    const found = await this.find(entry);
    if (found === undefined) return this.absent(entry);
    this.passTo(found);
    this.compare(entry, found);
  }

  /** The end of all seals: skipped events have no seal, remaining ones are unproven, and so are their receipts. */
  async end(): Promise<{
    readonly events: number;
    readonly since: string | null;
    readonly first: readonly UnprovenEvent[];
  }> {
    for (const event of this.passedOver.values()) this.inserted(event);
    for (const removal of this.removals.unproven) this.unproven(removal);
    let events = 0;
    let since: string | null = null;
    const first: UnprovenEvent[] = [];
    for (await this.window.fill(); this.window.first !== undefined; await this.window.fill()) {
      const event = this.window.takeFirst() as FoundEvent;
      if (event.damageBefore !== undefined) this.unreadableTail(event.damageBefore);
      if (event.isForeign) continue;
      since ??= recordedAtOf(event);
      events += 1;
      const { id, stream, revision, position } = event;
      if (first.length < MOST_LISTED) first.push({ id, stream, revision, position });
      if (!this.seen.add(event))
        this.findings.add({
          kind: 'repeated',
          detail: 'the event was sealed before: it is in the log a second time',
          id,
          stream,
          revision,
          position,
        });
    }
    if (this.window.damageAtEnd !== undefined && this.inDamage === undefined)
      this.unreadableTail(this.window.damageAtEnd);
    return { events, since, first };
  }

  private async find(entry: SealedEvent): Promise<FoundEvent | undefined> {
    await this.window.fill();
    // However much others wrote between two of ours.
    while (this.window.find(entry) === undefined && this.window.holdsForeign) {
      for (const event of this.window.takeForeign()) this.passForeign(event);
      await this.window.fill();
    }
    return this.window.find(entry) ?? this.passedForeign.find(entry);
  }

  /** Takes events from the window up to one; those before it missed their turn or have not had it yet. */
  private passTo(found: FoundEvent): void {
    if (this.passedForeign.delete(found)) return;
    for (;;) {
      const event = this.window.takeFirst() as FoundEvent;
      if (event.damageBefore !== undefined) this.inDamage = undefined;
      if (event === found) return;
      if (event.isForeign) this.passForeign(event);
      else this.passOver(event);
    }
  }

  private passForeign(event: FoundEvent): void {
    this.passedForeign.add(event);
    const { first } = this.passedForeign;
    if (this.passedForeign.size > PASSED_OVER && first !== undefined) this.passedForeign.delete(first);
  }

  private passOver(event: FoundEvent): void {
    this.passedOver.add({ ...event, ordinal: this.lastOrdinal });
    const { first } = this.passedOver;
    if (this.passedOver.size <= PASSED_OVER || first === undefined) return;
    this.passedOver.delete(first);
    this.inserted(first);
  }

  private compare(entry: SealedEvent, event: FoundEvent): void {
    this.events += 1;
    if (entry.stream !== event.stream || entry.revision !== event.revision) {
      this.findings.add({
        kind: 'changed',
        detail: `the event was sealed as revision ${entry.revision} of ${entry.stream}`,
        ...this.placeOf(event, event),
      });
    } else if (entry.content !== event.content) {
      this.findings.add({
        kind: 'changed',
        detail: 'type, data or metadata differ from what was sealed',
        ...this.placeOf(entry, event),
      });
    } else {
      this.removals.sealed(entry);
      this.erasures.sealed(entry);
    }
  }

  private absent(entry: SealedEvent): void {
    if (this.removals.explains(this.placeOf(entry))) return;
    const damage = this.window.first?.damageBefore ?? this.window.damageAtEnd;
    if (this.window.first?.stream === entry.stream && this.window.first.revision === entry.revision) {
      this.findings.add({
        kind: 'changed',
        detail: 'the id of the event differs from what was sealed',
        ...this.placeOf(entry, this.window.takeFirst()),
      });
    } else if (damage === undefined) {
      this.findings.add({
        kind: 'missing',
        detail: 'the event was sealed and is gone, without a receipt',
        ...this.placeOf(entry),
      });
    } else {
      const isFirst = this.inDamage !== damage;
      this.inDamage = damage;
      this.findings.add({
        kind: 'unreadable',
        detail: damage.damage,
        ...this.placeOf(entry),
        ...(isFirst && damage.position !== undefined ? { position: damage.position } : {}),
      });
    }
  }

  private inserted(event: PassedEvent): void {
    if (this.unlisted > 0) {
      this.unlisted -= 1;
      return;
    }
    const { ordinal, id, stream, revision, position } = event;
    this.findings.add({
      kind: 'inserted',
      detail: 'no seal lists the event, though later ones are sealed',
      ordinal,
      stream,
      revision,
      id,
      position,
    });
  }

  private unproven({ receipt, events, first, last }: UnprovenRemoval): void {
    const which =
      events === 1
        ? 'the event was sealed and is'
        : `${events} events up to revision ${last.revision} were sealed and are`;
    this.findings.add({
      kind: 'missing',
      detail: `${which} gone, without a sealed receipt: no seal lists ${receipt.receiptId}`,
      ...first,
    });
  }

  private unreadableTail({ damage, position }: Damage): void {
    this.findings.add({ kind: 'unreadable', detail: damage, ...(position === undefined ? {} : { position }) });
  }

  private placeOf(
    { stream, revision, id }: SealedEvent,
    event?: FoundEvent,
  ): { ordinal: number; stream: string; revision: number; id: string; position?: string } {
    return {
      ordinal: this.lastOrdinal,
      stream,
      revision,
      id,
      ...(event === undefined ? {} : { position: event.position }),
    };
  }
}

const recordedAtOf = ({ metadata }: FoundEvent): string => /"recordedAt":"([^"]*)"/.exec(metadata)?.[1] ?? '';
