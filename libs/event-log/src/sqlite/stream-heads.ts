import { LruCache } from '@app/kernel';
import { isRemoved } from './event-row';
import type { EventTable } from './event-table';

/** Where a stream stands. `revision` is -1 before the first event; a stream whose last event was removed is not live. */
export interface StreamHead {
  readonly revision: number;
  readonly live: boolean;
}

/** The writer's knowledge of streams: exact, since it is the only writer. Begun anew whenever a commit fails. */
export class StreamHeads {
  private readonly known = new LruCache<string, StreamHead>(50_000);

  constructor(private readonly table: EventTable) {}

  get(stream: string): StreamHead {
    const known = this.known.get(stream);
    if (known !== undefined) return known;
    const last = this.table.lastOf(stream);
    const head = last === undefined ? { revision: -1, live: false } : { revision: last[2], live: !isRemoved(last) };
    this.known.set(stream, head);
    return head;
  }

  set(stream: string, head: StreamHead): void {
    this.known.set(stream, head);
  }
}
