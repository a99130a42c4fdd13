import { type NewEvent, offBudget, type StoredEvent } from '@app/kernel';
import type { Connection } from './connection';
import { retry } from './retry';
import { streamRequest } from './read-request';
import { readFrom } from './server-reader';

/** The stream that lists what was removed, one event a removal. Its name and its events are storage formats. */
export const REMOVALS_STREAM = '$agent-platform-removals';
const REMOVED = '$removed';

interface Removal {
  readonly stream: string;
  /** Events before this revision are gone. */
  readonly before: number;
}

/**
 * The removed events of the log, by stream. The server hides truncated events in their stream at once, but in `$all`
 * only after a scavenge, and cannot list truncated streams quickly. So each removal is recorded, and readers of `$all`
 * read new records of that list too.
 */
export class Removals {
  /** Revision of the last entry known, -1 for none. */
  revision = -1;
  private befores = new Map<string, number>();
  private learning: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly connection: Connection) {}

  has({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>): boolean {
    return revision < this.before(stream);
  }

  /** Events of a stream before this revision are gone; 0 when none are. */
  before(stream: string): number {
    return this.befores.get(stream) ?? 0;
  }

  /** Reads what was listed up to now. Callers that come while a read is under way share the one after it. */
  learn(): Promise<void> {
    if (this.learning === undefined) return this.begin();
    const begin = (): Promise<void> => this.begin();
    return (this.next ??= this.learning.then(begin, begin));
  }

  /** Takes an entry of the list, wherever it was read. */
  take(entry: StoredEvent): void {
    const { stream, before } = JSON.parse(entry.data) as Removal;
    this.befores.set(stream, Math.max(before, this.before(stream)));
    this.revision = Math.max(this.revision, entry.revision);
  }

  /** The log is another: its list is to be learnt from the beginning. */
  forget(): void {
    this.befores = new Map();
    this.revision = -1;
  }

  private begin(): Promise<void> {
    this.next = undefined;
    const learning = offBudget(() => this.read()).finally(() => {
      if (this.learning === learning) this.learning = undefined;
    });
    return (this.learning = learning);
  }

  private async read(): Promise<void> {
    const request = streamRequest(REMOVALS_STREAM, { direction: 'forwards', from: this.revision + 1, limit: Infinity });
    const { events } = await retry(this.connection, (left, givenUp) =>
      readFrom(this.connection, request, left, Infinity, givenUp),
    );
    for (const event of events) this.take(event);
  }
}

/** An entry of the list. */
export const removalEvent = (id: string, removal: Removal): NewEvent => ({
  id,
  type: REMOVED,
  data: JSON.stringify(removal),
  metadata: '{}',
});
