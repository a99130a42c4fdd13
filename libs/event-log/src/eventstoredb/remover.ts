import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ExpectedRevision,
  isWrongExpectedRevision,
  type NewEvent,
  Unavailable,
  WAIT_MS,
  WrongExpectedRevision,
} from '@app/kernel';
import type { Appender } from './appender';
import { Removals, removalEvent, REMOVALS_STREAM } from './removals';
import { LOG_DEPENDENCY } from './server-errors';
import { isSoftDeleted, metastreamOf, type ReadLast, readMetadata, TRUNCATE_BEFORE } from './stream-metadata';

/** Retries of a step when another process wrote the same list or metadata, and the longest pause before one, milliseconds. */
const MOST_TRIES = 20;
const LONGEST_PAUSE = 100;

interface End {
  /** Revision of the last event, also if it was removed; -1 for a stream that never existed. */
  readonly revision: number;
  readonly isLive: boolean;
}

/**
 * Removes the beginnings of streams through their metadata. Never deletes a stream: a deleted one accepts the repeat
 * of an old append and writes nothing. Each step may be repeated.
 */
export class Remover {
  constructor(
    private readonly appender: Appender,
    private readonly readLast: ReadLast,
    private readonly removals: Removals,
  ) {}

  async truncate(stream: string, beforeRevision: number): Promise<void> {
    const { revision } = await this.endOf(stream);
    // The server would swallow later appends up to a revision beyond the end.
    await this.remove(stream, Math.min(beforeRevision, revision + 1));
  }

  /** Throws `WrongExpectedRevision`. Keeps what is appended meanwhile. */
  async delete(stream: string, expected: ExpectedRevision): Promise<void> {
    const end = await this.endOf(stream);
    if (!holds(expected, end)) throw new WrongExpectedRevision(stream, expected, end.isLive ? end.revision : -1);
    await this.remove(stream, end.revision + 1);
  }

  /** True if a stream has events. */
  async isLive(stream: string): Promise<boolean> {
    return (await this.endOf(stream)).isLive;
  }

  private async endOf(stream: string): Promise<End> {
    const last = await this.readLast(stream, WAIT_MS);
    if (last !== undefined) return { revision: last.revision, isLive: true };
    const metadata = await readMetadata(this.readLast, stream, WAIT_MS);
    return { revision: isSoftDeleted(metadata) ? -1 : metadata.before - 1, isLive: false };
  }

  private async remove(stream: string, before: number): Promise<void> {
    if (before <= 0) return;
    await this.again(async () => {
      const metadata = await readMetadata(this.readLast, stream, WAIT_MS);
      if (metadata.before >= before) return;
      await this.appender.append(
        metastreamOf(stream),
        [metadataEvent({ ...metadata.all, [TRUNCATE_BEFORE]: before })],
        metadata.revision < 0 ? 'noStream' : metadata.revision,
      );
    });
    await this.again(async () => {
      await this.removals.learn();
      if (this.removals.before(stream) >= before) return;
      await this.appender.append(
        REMOVALS_STREAM,
        [removalEvent(randomUUID(), { stream, before })],
        this.removals.revision < 0 ? 'noStream' : this.removals.revision,
      );
    });
    await this.removals.learn();
  }

  /** Another may write the same list or metadata: what it wrote can be read by now. */
  private async again(step: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await step();
      } catch (error) {
        if (!isWrongExpectedRevision(error)) throw error;
        if (tries >= MOST_TRIES)
          throw new Unavailable(LOG_DEPENDENCY, 'others are writing to what is being removed', 'unknown', {
            cause: error,
          });
        await pause(Math.random() * Math.min(2 ** tries, LONGEST_PAUSE));
      }
    }
  }
}

const metadataEvent = (metadata: Readonly<Record<string, unknown>>): NewEvent => ({
  id: randomUUID(),
  type: '$metadata',
  data: JSON.stringify(metadata),
  metadata: '{}',
});

const holds = (expected: ExpectedRevision, { revision, isLive }: End): boolean => {
  if (expected === 'any') return true;
  if (typeof expected === 'number') return expected === revision;
  return isLive === (expected === 'streamExists');
};
