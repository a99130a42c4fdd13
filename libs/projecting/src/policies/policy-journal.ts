import { type EventLog, holdsPlace } from '@app/event-log';
import {
  type AnyEvent,
  type Clock,
  type EventCodec,
  type EventOf,
  isUnavailable,
  isWrongExpectedRevision,
  Mutex,
  nameId,
  type NewEvent,
  type Position,
  type RecordedEvent,
  type StoredEvent,
  streamOf,
  type Uuid,
} from '@app/kernel';
import { type DeadLetter, type DeadLetterReason, deadLetter, PoisonEvent } from '../dead-letter';
import { evolveLetters, type LetterEvent, NO_LETTERS } from './policy-letters';
import type { PolicyAdvanced, PolicyDeadLettered } from './policy.events';

type Place = EventOf<typeof PolicyAdvanced>['data'];

/** How many recorded places are tried when the event of the last one was removed. */
const PLACES_TRIED = 100;

/**
 * The place of a policy, stored in the log itself: if a view store is lost, or the log is imported into another,
 * nothing is repeated.
 */
export class PolicyJournal {
  private readonly places: JournalStream;
  private readonly dead: JournalStream;
  /** Streams fail at the same time; their dead letters are appended one after the other. */
  private readonly recording = new Mutex();

  constructor(
    private readonly policy: string,
    private readonly log: EventLog,
    private readonly codec: EventCodec,
    private readonly clock: Clock,
  ) {
    this.places = new JournalStream(streamOf('policy', policy), log);
    this.dead = new JournalStream(streamOf('policyLetters', policy), log);
  }

  /** The position in this log of the last event reacted to; null for a policy that starts. */
  async place(): Promise<Position | null> {
    const recorded = await this.log.readStream(this.places.name, { direction: 'backwards', limit: PLACES_TRIED });
    this.places.revision = recorded[0]?.revision ?? -1;
    const places = (await this.codec.decode(recorded)).map((event) => event.data as Place);
    for (const { stream, revision, eventId } of places) {
      const [event] = await this.log.readStream(stream, { from: revision, limit: 1 });
      if (event?.id === eventId) return event.position;
    }
    // Every event named there was removed since: then this is the log they stood in.
    return places[0]?.position ?? null;
  }

  async letters(): Promise<Map<string, DeadLetter>> {
    const stored = await this.log.readStream(this.dead.name);
    this.dead.revision = stored.at(-1)?.revision ?? this.dead.revision;
    const recorded = (await this.codec.decode(stored)) as RecordedEvent<LetterEvent>[];
    const letters = recorded.reduce(evolveLetters, NO_LETTERS);
    return new Map(letters.map((letter) => this.letterOf(letter, new Date(letter.failedAt))));
  }

  /**
   * Records that all events up to this one are handled. Throws `WrongExpectedRevision` if another instance runs the
   * policy. Records nothing if the log does not have the event: it was restored from an older backup, and other events
   * may later come before that place, which the policy would skip.
   */
  async advance({ id, stream, revision, position }: StoredEvent): Promise<void> {
    if (!(await holdsPlace(this.log, { id, stream, revision, position }))) return;
    await this.append(
      this.places,
      [{ type: 'PolicyAdvanced', data: { eventId: id, stream, revision, position } }],
      nameId(id, `advanced/${this.policy}`),
    );
  }

  async settled({ eventId, stream }: DeadLetter, outcome: 'retried' | 'discarded'): Promise<void> {
    await this.record([{ type: 'PolicyDeadLetterSettled', data: { eventId, stream, outcome } }], eventId, outcome);
  }

  /** Records a failure as a dead letter, after `attempts` tries in all. */
  async failed({ event, reason, detail }: PoisonEvent, attempts: number): Promise<DeadLetter> {
    const { id, type, stream, revision, position } = event;
    const data = {
      eventId: id,
      eventType: type,
      stream,
      revision,
      position,
      reason: reason as 'reaction',
      detail,
      attempts,
    };
    await this.record([{ type: 'PolicyDeadLettered', data }], id, `failed/${attempts}`);
    return this.letterOf(data, this.clock.now());
  }

  private record(events: readonly LetterEvent[], eventId: Uuid, step: string): Promise<void> {
    return this.recording.run(() =>
      this.append(this.dead, events, nameId(eventId, `${step}/${this.dead.revision}/${this.policy}`)),
    );
  }

  private async append(stream: JournalStream, events: readonly AnyEvent[], commandId: Uuid): Promise<void> {
    await stream.append(
      await this.codec.encode(
        stream.name,
        events,
        { commandId, correlationId: commandId, actor: `system:${this.policy}`, now: this.clock.now() },
        {},
      ),
    );
  }

  private letterOf(data: EventOf<typeof PolicyDeadLettered>['data'], failedAt: Date): DeadLetter {
    const { eventId, eventType, stream, revision, position, reason, detail, attempts } = data;
    const event = { id: eventId, type: eventType, stream, revision, position, data: '', metadata: '' };
    return deadLetter(
      'policy',
      this.policy,
      new PoisonEvent(event, reason satisfies DeadLetterReason, detail),
      attempts,
      failedAt,
    );
  }
}

/** A stream with one writer. An instance that finds another's events after its own is fenced. */
class JournalStream {
  /** Of the last event that is known, -1 before the first. */
  revision = -1;
  /** Ids of our events that may come after it: the outcome of their append is unknown. */
  private readonly unknown = new Set<Uuid>();

  constructor(
    readonly name: string,
    private readonly log: EventLog,
  ) {}

  /** Throws `WrongExpectedRevision` where another wrote. */
  async append(events: readonly NewEvent[]): Promise<void> {
    try {
      this.revision = await this.appendBehind(events).catch(async (error: unknown) => {
        if (!isWrongExpectedRevision(error) || !(await this.passOwn())) throw error;
        return this.appendBehind(events);
      });
      this.unknown.clear();
    } catch (error) {
      if (isUnavailable(error) && error.outcome === 'unknown') for (const { id } of events) this.unknown.add(id);
      throw error;
    }
  }

  private async appendBehind(events: readonly NewEvent[]): Promise<number> {
    return (await this.log.append(this.name, events, this.revision < 0 ? 'noStream' : this.revision)).revision;
  }

  /** True if all events after the known ones are our own. */
  private async passOwn(): Promise<boolean> {
    if (this.unknown.size === 0) return false;
    const stored = await this.log.readStream(this.name, { from: this.revision + 1 });
    if (stored.length === 0 || stored.some(({ id }) => !this.unknown.has(id))) return false;
    this.revision = stored.at(-1)?.revision ?? this.revision;
    return true;
  }
}
