import type { StreamIndex } from './stream-index';

/** Where a stream stands. `revision` is -1 before the first event; a stream whose last event was removed is not live. */
export interface StreamHead {
  readonly revision: number;
  readonly live: boolean;
}

/** Streams that are remembered of those in the index; then all are forgotten, which costs a look at each that comes again. */
const MOST_STREAMS = 50_000;

/** The writer's knowledge of streams: exact, since it is the only writer. Begun anew whenever a commit fails. */
export class StreamHeads {
  private readonly known = new Map<string, StreamHead>();
  /** Streams with events that are not in the index yet: known here alone. */
  private unindexed = new Map<string, StreamHead>();

  constructor(private readonly index: StreamIndex) {}

  get(stream: string): StreamHead {
    const known = this.unindexed.get(stream) ?? this.known.get(stream);
    if (known !== undefined) return known;
    const end = this.index.endOf(stream);
    const head = { revision: end?.revision ?? -1, live: end?.isRemoved === false };
    this.remember(stream, head);
    return head;
  }

  /** After an append. */
  moved(stream: string, head: StreamHead): void {
    this.unindexed.set(stream, head);
  }

  /** After a removal, which leaves nothing of the stream out of the index. */
  emptied(stream: string, revision: number): void {
    this.remember(stream, { revision, live: false });
  }

  isUnindexed(stream: string): boolean {
    return this.unindexed.has(stream);
  }

  allIndexed(): void {
    for (const [stream, head] of this.unindexed) this.remember(stream, head);
    this.unindexed = new Map();
  }

  private remember(stream: string, head: StreamHead): void {
    if (this.known.size >= MOST_STREAMS) this.known.clear();
    this.known.set(stream, head);
  }
}
