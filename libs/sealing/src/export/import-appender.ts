import type { EventLog } from '@app/event-log';
import { isWrongExpectedRevision, type NewEvent, type StoredEvent } from '@app/kernel';

const EVENTS_AT_ONCE = 100;
/** Half of what EventStoreDB takes at once. */
const BYTES_AT_ONCE = 512 * 1024;
/** What stands for removed events until the end of the import removes it. */
export const PLACEHOLDER = 'RemovedBeforeImport';

/** Appends events in order, neighbours of one stream together, as many appends at a time as the log keeps in order. Begins none behind one that failed. */
export class ImportAppender {
  private group: StoredEvent[] = [];
  private bytes = 0;
  private inFlight: Promise<void>[] = [];
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly log: EventLog) {}

  async add(event: StoredEvent): Promise<void> {
    const last = this.group.at(-1);
    const follows = last !== undefined && last.stream === event.stream && last.revision + 1 === event.revision;
    const bytes = Buffer.byteLength(event.type) + Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata);
    if (last !== undefined && (!follows || this.group.length >= EVENTS_AT_ONCE || this.bytes + bytes > BYTES_AT_ONCE)) this.send();
    this.group.push(event);
    this.bytes += bytes;
    if (this.inFlight.length >= this.log.mostInOrder) await this.settle();
    else this.mustBeWell();
  }

  async flush(): Promise<void> {
    await this.settle();
    this.send();
    await this.settle();
  }

  private send(): void {
    const { group } = this;
    if (group.length === 0) return;
    this.inFlight.push(this.append(group).catch((error: unknown) => void (this.failure ??= { error })));
    this.group = [];
    this.bytes = 0;
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

  private async settle(): Promise<void> {
    await Promise.all(this.inFlight.splice(0));
    this.mustBeWell();
  }

  private mustBeWell(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}
