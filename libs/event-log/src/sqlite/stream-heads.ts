import type { EventTable } from './event-table';

/** Where a stream stands. `revision` is -1 before the first event; a stream whose last event was removed is not live. */
export interface StreamHead {
  readonly revision: number;
  readonly live: boolean;
}

/** Streams that are remembered; then all are forgotten, which costs a look at each that comes again. */
const MOST_STREAMS = 50_000;

/** The writer's knowledge of streams: exact, since it is the only writer. Begun anew whenever a commit fails. */
export class StreamHeads {
  private readonly known = new Map<string, StreamHead>();

  constructor(private readonly table: EventTable) {}

  /** What is remembered: most streams that are written to were written to before. */
  remembered(stream: string): StreamHead | undefined {
    return this.known.get(stream);
  }

  get(stream: string): StreamHead {
    const known = this.known.get(stream);
    if (known !== undefined) return known;
    const end = this.table.endOf(stream);
    const head = { revision: end?.revision ?? -1, live: end?.isRemoved === false };
    this.set(stream, head);
    return head;
  }

  set(stream: string, head: StreamHead): void {
    if (this.known.size >= MOST_STREAMS) this.known.clear();
    this.known.set(stream, head);
  }
}
