import type { EventLog } from '@app/event-log';
import { type AnyEvent, type Clock, type EventCodec, type EventOf, nameId, type Position, type RecordedEvent, type StoredEvent, streamOf, type Uuid } from '@app/kernel';
import { type DeadLetter, type DeadLetterReason, deadLetter, PoisonEvent } from './dead-letter';
import { Mutex } from './mutex';
import type { PolicyAdvanced, PolicyDeadLettered, PolicyDeadLetterSettled } from './policy.events';

type Place = EventOf<typeof PolicyAdvanced>['data'];
type LetterEvent = EventOf<typeof PolicyDeadLettered> | EventOf<typeof PolicyDeadLetterSettled>;

/** How many recorded places are tried when the event of the last one was removed. */
const PLACES_TRIED = 100;

/** Where a policy stands, kept in the log itself: losing a view store, or importing into another log, repeats nothing. */
export class PolicyJournal {
  private placeRevision = -1;
  private letterRevision = -1;
  /** Streams fail at the same time; their dead letters are appended one after the other. */
  private readonly recording = new Mutex();

  constructor(
    private readonly policy: string,
    private readonly log: EventLog,
    private readonly codec: EventCodec,
    private readonly clock: Clock,
  ) {}

  /** The position in this log of the last event reacted to; null for a policy that starts. */
  async place(): Promise<Position | null> {
    const recorded = await this.log.readStream(this.places, { direction: 'backwards', limit: PLACES_TRIED });
    this.placeRevision = recorded[0]?.revision ?? -1;
    const places = (await this.codec.decode(recorded)).map((event) => event.data as Place);
    for (const { stream, revision, eventId } of places) {
      const [event] = await this.log.readStream(stream, { from: revision, limit: 1 });
      if (event?.id === eventId) return event.position;
    }
    // Every event named there was removed since: then this is the log they stood in.
    return places[0]?.position ?? null;
  }

  async letters(): Promise<Map<string, DeadLetter>> {
    const letters = new Map<string, DeadLetter>();
    const recorded = await this.codec.decode(await this.log.readStream(this.letterStream));
    for (const event of recorded as RecordedEvent<LetterEvent>[]) {
      this.letterRevision = event.context.revision;
      if (event.type === 'PolicyDeadLetterSettled') letters.delete(event.data.stream);
      else letters.set(event.data.stream, this.letterOf(event.data, new Date(event.context.recordedAt)));
    }
    return letters;
  }

  /** Records that everything up to an event was reacted to. Throws `WrongExpectedRevision` when another instance runs the policy. */
  async advance({ id, stream, revision, position }: StoredEvent): Promise<void> {
    this.placeRevision = await this.append(this.places, [{ type: 'PolicyAdvanced', data: { eventId: id, stream, revision, position } }], nameId(id, `advanced/${this.policy}`), this.placeRevision);
  }

  async settled({ eventId, stream }: DeadLetter, outcome: 'retried' | 'discarded'): Promise<void> {
    await this.record([{ type: 'PolicyDeadLetterSettled', data: { eventId, stream, outcome } }], eventId, outcome);
  }

  /** Records a failure as a dead letter, after `attempts` tries in all. */
  async failed({ event, reason, detail }: PoisonEvent, attempts: number): Promise<DeadLetter> {
    const { id, type, stream, revision, position } = event;
    const data = { eventId: id, eventType: type, stream, revision, position, reason: reason as 'reaction', detail, attempts };
    await this.record([{ type: 'PolicyDeadLettered', data }], id, `failed/${attempts}`);
    return this.letterOf(data, this.clock.now());
  }

  private record(events: readonly LetterEvent[], eventId: Uuid, step: string): Promise<void> {
    return this.recording.run(async () => {
      this.letterRevision = await this.append(this.letterStream, events, nameId(eventId, `${step}/${this.letterRevision}/${this.policy}`), this.letterRevision);
    });
  }

  private async append(stream: string, events: readonly AnyEvent[], commandId: Uuid, expected: number): Promise<number> {
    const encoded = await this.codec.encode(stream, events, { commandId, correlationId: commandId, actor: `system:${this.policy}`, now: this.clock.now() }, {});
    return (await this.log.append(stream, encoded, expected < 0 ? 'noStream' : expected)).revision;
  }

  private letterOf(data: EventOf<typeof PolicyDeadLettered>['data'], failedAt: Date): DeadLetter {
    const { eventId, eventType, stream, revision, position, reason, detail, attempts } = data;
    const event = { id: eventId, type: eventType, stream, revision, position, data: '', metadata: '' };
    return deadLetter('policy', this.policy, new PoisonEvent(event, reason satisfies DeadLetterReason, detail), attempts, failedAt);
  }

  private get places(): string {
    return streamOf('policy', this.policy);
  }

  private get letterStream(): string {
    return streamOf('policyLetters', this.policy);
  }
}
