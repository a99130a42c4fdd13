import { LruCache, type StoredEvent } from '@app/kernel';
import type { WriterEvents } from './log-writer';
import { positionText } from './positions';
import { RecentEvents } from './recent-events';
import type { AppendRequest } from './writer-protocol';

/**
 * What this process knows of the log: how far it is acknowledged, its newest events and where streams end. Readers of this
 * process see nothing beyond `head`, so what is known of a stream is never behind what a subscription has shown.
 */
export class KnownLog implements WriterEvents {
  /** The last acknowledged position, 0 for an empty log. */
  head = 0;
  readonly recent = new RecentEvents(0);
  private readonly ends = new LruCache<string, number>(50_000);
  private readonly listeners = new Set<() => void>();

  /** No event of the stream stands beyond this revision; undefined when that is not known. */
  endOf(stream: string): number | undefined {
    return this.ends.get(stream);
  }

  learnEnd(stream: string, revision: number): void {
    this.ends.set(stream, revision);
  }

  /** Calls `listener` after each commit; returns how to stop. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.listeners.add(own);
    return () => this.listeners.delete(own);
  }

  onUp(head: number): void {
    this.head = head;
    this.recent.clear(head);
    this.ends.clear();
    this.onCommitted();
  }

  onAppended({ stream, events }: AppendRequest, position: number, revision: number): void {
    events.forEach((event, index) => {
      const back = events.length - 1 - index;
      this.recent.add(stored(event, stream, revision - back, position - back));
    });
    this.head = position;
    this.ends.set(stream, revision);
  }

  onWrongRevision(stream: string, actual: number): void {
    if (actual >= 0) this.ends.set(stream, actual);
    else this.ends.delete(stream);
  }

  onRemoved(): void {
    this.recent.clear(this.head);
  }

  onCommitted(): void {
    for (const listener of this.listeners) listener();
  }
}

const stored = ({ id, type, data, metadata }: AppendRequest['events'][number], stream: string, revision: number, position: number): StoredEvent => ({
  position: positionText(position),
  stream,
  revision,
  id,
  type,
  data,
  metadata,
});
