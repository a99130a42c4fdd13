import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, type StoredEvent, Unavailable } from '@app/kernel';
import { within } from './retry';
import { LOG_DEPENDENCY } from './server-errors';
import { isSoftDeleted, type ReadLast, readMetadata } from './stream-metadata';

/** Reads streams within so many milliseconds each. Throws `Unavailable`. */
export interface StreamReads {
  /** Events from a revision on, oldest first. */
  readonly from: (
    stream: string,
    revision: number,
    limit: number,
    milliseconds: number,
  ) => Promise<readonly StoredEvent[]>;
  readonly last: ReadLast;
}

/** What can be read of a stream once the revision that the server told is shown: its events from some revision on, or why there are none up to it. */
export type Shown =
  | { readonly kind: 'events'; readonly events: readonly StoredEvent[] }
  | { readonly kind: 'truncated' }
  | { readonly kind: 'softDeleted' };

export interface Wanted {
  readonly stream: string;
  /** The revision that the server told. */
  readonly told: number;
  /** Events from this revision on. */
  readonly from: number;
  readonly limit: number;
  /** Until when, by `performance.now()`. */
  readonly ends: number;
}

/** Most of what a server rejected by was shown within 10 ms, all of it within 130. */
const FIRST_PAUSE = 3;
const LONGEST_PAUSE = 50;
/** Looks at the end of a stream after which its metadata are read again. */
const LOOKS = 4;

/**
 * Reads the stream after a rejection. A server decides before it shows: until the revision that it named can be read,
 * a read proves nothing, not even that there is no stream. If all was removed, only the stream's metadata say so.
 */
export class ShownStream {
  /** Reads that are under way: of many who lose one race each would read the same. */
  private readonly under = new Map<string, Promise<unknown>>();

  constructor(private readonly reads: StreamReads) {}

  /** Throws `Unavailable` with outcome `unknown` when the time ends first: the append may be stored. */
  async upTo(wanted: Wanted): Promise<Shown> {
    for (let wait = FIRST_PAUSE; ;) {
      const events = await this.shared(wanted, `${wanted.from} ${wanted.limit}`, (left) =>
        this.reads.from(wanted.stream, wanted.from, wanted.limit, left),
      );
      if (await this.reaches(wanted, events)) return { kind: 'events', events };
      const metadata = await this.shared(wanted, 'metadata', (left) =>
        readMetadata(this.reads.last, wanted.stream, left),
      );
      if (metadata.before > wanted.told) return { kind: isSoftDeleted(metadata) ? 'softDeleted' : 'truncated' };
      for (
        let looks = 0, end = -1;
        end < wanted.told && looks < LOOKS;
        looks += 1, wait = Math.min(2 * wait, LONGEST_PAUSE)
      )
        end = await this.look(wanted, wait);
    }
  }

  /** Resolves when nothing of the stream can be read any more. Throws as `upTo` does. */
  async untilGone(wanted: Pick<Wanted, 'stream' | 'ends'>): Promise<void> {
    for (let wait = FIRST_PAUSE; (await this.look(wanted, wait)) >= 0; wait = Math.min(2 * wait, LONGEST_PAUSE));
  }

  last(wanted: Pick<Wanted, 'stream' | 'ends'>): Promise<StoredEvent | undefined> {
    return this.shared(wanted, 'last', (left) => this.reads.last(wanted.stream, left));
  }

  /** Events are shown in their order: with one, all before it. */
  private async reaches(wanted: Wanted, events: readonly StoredEvent[]): Promise<boolean> {
    const isShown = (last: StoredEvent | undefined): boolean => last !== undefined && last.revision >= wanted.told;
    return isShown(events.at(-1)) || (events.length === wanted.limit && isShown(await this.last(wanted)));
  }

  /** Revision of the last event that can be read a moment later; -1 for none. */
  private async look(wanted: Pick<Wanted, 'stream' | 'ends'>, wait: number): Promise<number> {
    const last = await this.shared(wanted, 'look', async () => {
      await pause(wait * (0.5 + Math.random() / 2));
      return this.last(wanted);
    });
    return last?.revision ?? -1;
  }

  /** Visible events stay visible: an earlier read is valid if it already shows the wanted event. */
  private shared<T>(
    wanted: Pick<Wanted, 'stream' | 'ends'>,
    what: string,
    read: (left: number) => Promise<T>,
  ): Promise<T> {
    const key = `${what} ${wanted.stream}`;
    const known = this.under.get(key);
    // It may have failed because the time of whoever began it was over.
    if (known !== undefined)
      return this.within(wanted, (left) => within(left, known as Promise<T>)).catch(() => this.within(wanted, read));
    const work = this.within(wanted, read).finally(() => this.under.delete(key));
    this.under.set(key, work);
    return work;
  }

  private async within<T>({ ends }: Pick<Wanted, 'ends'>, read: (left: number) => Promise<T>): Promise<T> {
    const left = ends - performance.now();
    if (left <= 0) throw new Unavailable(LOG_DEPENDENCY, 'the server does not show the winning append yet', 'unknown');
    try {
      return await read(left);
    } catch (error) {
      throw isUnavailable(error) ? new Unavailable(LOG_DEPENDENCY, error.reason, 'unknown', { cause: error }) : error;
    }
  }
}
