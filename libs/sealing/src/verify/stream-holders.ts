import type { ForeignEvent, LogReader } from '@app/event-log';
import { LRUCache } from 'lru-cache';

const REMEMBERED_STREAMS = 100_000;

/** Tells into which streams of ours others wrote. */
export class StreamHolders {
  private readonly holdsOurs = new LRUCache<string, boolean>({ max: REMEMBERED_STREAMS });

  constructor(private readonly log: Pick<LogReader, 'readStream'>) {}

  /** Whether the stream of an event of theirs holds events of ours. One that others began is theirs: ours are begun where there is none. */
  async isAmongOurs({ stream, revision, isNamedAsOurs }: ForeignEvent): Promise<boolean> {
    if (!isNamedAsOurs) return false;
    const known = revision === 0 ? false : this.holdsOurs.get(stream);
    const holds = known ?? (await this.log.readStream(stream, { limit: 1 })).length > 0;
    this.holdsOurs.set(stream, holds);
    return holds;
  }
}
