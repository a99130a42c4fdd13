import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable, type StoredEvent, Unavailable } from '@app/kernel';
import { LOG_DEPENDENCY } from './server-errors';
import { isSoftDeleted, type ReadLast, readMetadata } from './stream-metadata';

/** Reads streams within so many milliseconds each. Throws `Unavailable`. */
export interface StreamReads {
  /** Events from a revision on, oldest first. */
  readonly from: (stream: string, revision: number, limit: number, milliseconds: number) => Promise<readonly StoredEvent[]>;
  readonly last: ReadLast;
}

/** What can be read of a stream once the revision that the server told is shown: its events from some revision on, or why there are none up to it. */
export type Shown = { readonly kind: 'events'; readonly events: readonly StoredEvent[] } | { readonly kind: 'truncated' } | { readonly kind: 'softDeleted' };

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

/** A server showed what it had refused by after 10 ms in 95 of 100 cases, after 128 ms at most. */
const FIRST_PAUSE = 3;
const LONGEST_PAUSE = 50;

/**
 * Reads what a refusal tells of. A server decides before it shows: until the revision that it told can be read, a read says
 * nothing, not even that there is no stream. That all was removed is told by the stream's metadata alone.
 */
export class ShownStream {
  constructor(private readonly reads: StreamReads) {}

  /** Throws `Unavailable` with outcome `unknown` when the time ends first: what was sent may stand. */
  async upTo(wanted: Wanted): Promise<Shown> {
    for (let wait = FIRST_PAUSE; ; wait = Math.min(2 * wait, LONGEST_PAUSE)) {
      const events = await this.within(wanted, (left) => this.reads.from(wanted.stream, wanted.from, wanted.limit, left));
      if (await this.reaches(wanted, events)) return { kind: 'events', events };
      const metadata = await this.within(wanted, (left) => readMetadata(this.reads.last, wanted.stream, left));
      if (metadata.before > wanted.told) return { kind: isSoftDeleted(metadata) ? 'softDeleted' : 'truncated' };
      await pause(wait * (0.5 + Math.random() / 2));
    }
  }

  /** Resolves when nothing of the stream can be read any more. Throws as `upTo` does. */
  async untilGone({ stream, ends }: Pick<Wanted, 'stream' | 'ends'>): Promise<void> {
    for (let wait = FIRST_PAUSE; (await this.last({ stream, ends })) !== undefined; wait = Math.min(2 * wait, LONGEST_PAUSE)) await pause(wait);
  }

  last({ stream, ends }: Pick<Wanted, 'stream' | 'ends'>): Promise<StoredEvent | undefined> {
    return this.within({ ends }, (left) => this.reads.last(stream, left));
  }

  /** Events are shown in their order: with one, all before it. */
  private async reaches(wanted: Wanted, events: readonly StoredEvent[]): Promise<boolean> {
    const isShown = (last: StoredEvent | undefined): boolean => last !== undefined && last.revision >= wanted.told;
    return isShown(events.at(-1)) || (events.length === wanted.limit && isShown(await this.last(wanted)));
  }

  private async within<T>({ ends }: Pick<Wanted, 'ends'>, read: (left: number) => Promise<T>): Promise<T> {
    const left = ends - performance.now();
    if (left <= 0) throw new Unavailable(LOG_DEPENDENCY, 'the server does not show yet what it refused by', 'unknown');
    try {
      return await read(left);
    } catch (error) {
      throw isUnavailable(error) ? new Unavailable(LOG_DEPENDENCY, error.reason, 'unknown', { cause: error }) : error;
    }
  }
}
