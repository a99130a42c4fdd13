import { type Aggregates, categoryOf, type StoredEvent, type StreamReader } from '@app/kernel';
import { LRUCache } from 'lru-cache';

/** Knows the streams that others hear nothing of, such as private conversations: by their first event, which is read once. */
export class PrivateStreams {
  private readonly known = new LRUCache<string, boolean>({ max: 10_000 });

  constructor(
    private readonly log: StreamReader,
    private readonly aggregates: Pick<Aggregates, 'isPrivateOf'>,
  ) {}

  /** Those among the streams of some events. */
  async among(events: readonly StoredEvent[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const stream of new Set(events.map((event) => event.stream)))
      if (await this.isPrivate(stream, events)) found.add(stream);
    return found;
  }

  private async isPrivate(stream: string, events: readonly StoredEvent[]): Promise<boolean> {
    const asked = this.aggregates.isPrivateOf(categoryOf(stream));
    if (asked === undefined) return false;
    const known = this.known.get(stream);
    if (known !== undefined) return known;
    const first =
      events.find((event) => event.stream === stream && event.revision === 0) ??
      (await this.log.readStream(stream, { limit: 1 }))[0];
    // Of a stream without a beginning nobody knows that others may hear of it.
    const isPrivate = first === undefined || asked(JSON.parse(first.data) as Record<string, unknown>);
    this.known.set(stream, isPrivate);
    return isPrivate;
  }
}
