import type { StreamIndex } from './stream-index';

/** The end of a stream. `revision` is -1 before the first event. A stream whose last event was removed is not live. */
export interface StreamHead {
  readonly revision: number;
  readonly live: boolean;
}

/** Remember this many indexed streams, then forget all. Each one that is used again costs a lookup. */
const MOST_STREAMS = 50_000;

/** The ends of streams. Exact, since there is one writer. Starts over when a commit fails. */
export class StreamHeads {
  private readonly known = new Map<string, StreamHead>();
  /** Streams with events that are not indexed yet. Only known here. */
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

  /** Notes an append. */
  moved(stream: string, head: StreamHead): void {
    this.unindexed.set(stream, head);
  }

  /** Notes a removal. All of the stream is indexed then. */
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
