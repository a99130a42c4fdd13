import type { EventLog } from '@app/event-log';
import { isWrongExpectedRevision, type NewEvent, type RetryOptions, retry, type StoredEvent } from '@app/kernel';

const EVENTS_AT_ONCE = 100;
/** Half of what EventStoreDB takes at once. */
const BYTES_AT_ONCE = 512 * 1024;
/** What stands for removed events until the end of the import removes it. */
export const PLACEHOLDER = 'RemovedBeforeImport';

/** Neighbours of one stream that are appended together. */
interface Sent {
  readonly group: readonly StoredEvent[];
  /** How the append failed, or undefined; absent where it is to be made again. */
  outcome?: Promise<{ readonly error: unknown } | undefined>;
}

/**
 * Appends events in order, consecutive events of a stream together, and as many appends at a time as the log keeps in
 * order. Waits while the log is unavailable: no append begins after a failed one. The failed one and those after it are
 * repeated; events that are already stored are recognised by their ids.
 */
export class ImportAppender {
  private group: StoredEvent[] = [];
  private bytes = 0;
  private inFlight: Sent[] = [];
  private failed = false;

  constructor(
    private readonly log: EventLog,
    private readonly options: RetryOptions = {},
  ) {}

  async add(event: StoredEvent): Promise<void> {
    const last = this.group.at(-1);
    const follows = last !== undefined && last.stream === event.stream && last.revision + 1 === event.revision;
    const bytes = Buffer.byteLength(event.type) + Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata);
    if (last !== undefined && (!follows || this.group.length >= EVENTS_AT_ONCE || this.bytes + bytes > BYTES_AT_ONCE))
      await this.send();
    this.group.push(event);
    this.bytes += bytes;
  }

  async flush(): Promise<void> {
    await this.send();
    await this.settle();
  }

  private async send(): Promise<void> {
    if (this.failed || this.inFlight.length >= this.log.mostInOrder) await this.settle();
    if (this.group.length > 0) this.inFlight.push(this.begun(this.group));
    this.group = [];
    this.bytes = 0;
  }

  private begun(group: readonly StoredEvent[]): Required<Sent> {
    const outcome = this.append(group).catch((error: unknown) => {
      this.failed = true;
      return { error };
    });
    return { group, outcome: outcome.then((failure) => failure ?? undefined) };
  }

  private async append(group: readonly StoredEvent[]): Promise<void> {
    const [{ stream, revision, type }] = group as [StoredEvent];
    const events: NewEvent[] = group.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }));
    try {
      await this.log.append(stream, events, revision === 0 ? 'noStream' : revision - 1);
    } catch (error) {
      // Placeholders that an earlier run has removed again.
      if (type !== PLACEHOLDER || !isWrongExpectedRevision(error)) throw error;
    }
  }

  /** Resolves when all that was sent stands. */
  private settle(): Promise<void> {
    return retry(async () => {
      const underWay = this.inFlight.map((sent) => (sent.outcome === undefined ? this.begun(sent.group) : sent));
      const outcomes = await Promise.all(underWay.map(async ({ outcome }) => outcome));
      const first = outcomes.findIndex((outcome) => outcome !== undefined);
      this.failed = false;
      this.inFlight = first === -1 ? [] : underWay.slice(first).map(({ group }) => ({ group }));
      const failure = outcomes[first];
      if (failure !== undefined) throw failure.error;
    }, this.options);
  }
}
