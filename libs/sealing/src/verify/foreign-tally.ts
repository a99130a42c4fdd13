import type { ForeignEvent, LogReader } from '@app/event-log';
import { LRUCache } from 'lru-cache';
import type { Findings } from './findings';
import { type ForeignEvents, MOST_LISTED } from './verification';
import type { PassedOver, ForeignItem } from './verify-source';

/** Counts what others wrote, and names the streams of ours that they wrote into. */
export class ForeignTally {
  private count = 0;
  private since: ForeignEvents['since'] = null;
  /** By stream of ours: the first event of theirs, and how many there are. */
  private readonly intruded = new Map<string, { readonly first: ForeignItem; events: number }>();

  add(foreign: ForeignItem | PassedOver): void {
    if ('passedOver' in foreign) return this.countIn(foreign.passedOver);
    this.countIn({ events: 1, since: foreign });
    if (!foreign.isAmongOurs) return;
    const known = this.intruded.get(foreign.stream);
    if (known !== undefined) known.events += 1;
    else if (this.intruded.size < MOST_LISTED) this.intruded.set(foreign.stream, { first: foreign, events: 1 });
  }

  /** Says which streams of ours hold events of theirs. */
  end(findings: Findings): ForeignEvents {
    for (const { first, events } of this.intruded.values()) {
      const { stream, revision, id, position } = first;
      const which =
        events === 1 ? 'another program wrote this event' : `other programs wrote ${events} events, this one first,`;
      findings.add({
        kind: 'foreign',
        detail: `${which} into a stream of ours, which can no longer be written`,
        stream,
        revision,
        id,
        position,
      });
    }
    return { events: this.count, since: this.since };
  }

  private countIn({ events, since }: ForeignEvents): void {
    this.count += events;
    if (since !== null && (this.since === null || since.position < this.since.position))
      this.since = { position: since.position, at: since.at };
  }
}

const REMEMBERED_STREAMS = 100_000;

/** Tells into which streams of ours others wrote. */
export class StreamHolders {
  private readonly holdsOurs = new LRUCache<string, boolean>({ max: REMEMBERED_STREAMS });

  constructor(private readonly log: Pick<LogReader, 'readStream'>) {}

  /**
   * Whether the stream of a foreign event also holds our events. A stream that others began is theirs: we begin a
   * stream only if it does not exist.
   */
  async isAmongOurs({ stream, revision, isNamedAsOurs }: ForeignEvent): Promise<boolean> {
    if (!isNamedAsOurs) return false;
    const known = revision === 0 ? false : this.holdsOurs.get(stream);
    const holds = known ?? (await this.log.readStream(stream, { limit: 1 })).length > 0;
    this.holdsOurs.set(stream, holds);
    return holds;
  }
}
