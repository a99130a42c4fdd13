import { randomUUID } from 'node:crypto';
import { type ExpectedRevision, isWrongExpectedRevision, type NewEvent, type StoredEvent, WrongExpectedRevision } from '@app/kernel';
import type { Appender } from './appender';
import { Removals, removalEvent, REMOVALS_STREAM } from './removals';

/** What the server calls the first revision that is kept. */
const TRUNCATE_BEFORE = '$tb';
/** Milliseconds within which a step of a removal is answered or fails. */
const STEP_MS = 1_900;

/** Reads the newest event of a stream, of the server's own too. */
export type ReadLast = (stream: string, milliseconds: number) => Promise<StoredEvent | undefined>;

interface End {
  /** Revision of the last event, also when it was removed; -1 for a stream that never was. */
  readonly revision: number;
  readonly isLive: boolean;
}

/**
 * Removes the beginnings of streams by their metadata, never by deleting them: a deleted stream takes a repeat of an old
 * append for done and writes nothing. Each step may be done twice.
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

  /** Throws `WrongExpectedRevision`. What is appended meanwhile stays. */
  async delete(stream: string, expected: ExpectedRevision): Promise<void> {
    const end = await this.endOf(stream);
    if (!holds(expected, end)) throw new WrongExpectedRevision(stream, expected, end.isLive ? end.revision : -1);
    await this.remove(stream, end.revision + 1);
  }

  /** Whether a stream has events. */
  async isLive(stream: string): Promise<boolean> {
    return (await this.endOf(stream)).isLive;
  }

  private async endOf(stream: string): Promise<End> {
    const last = await this.readLast(stream, STEP_MS);
    if (last !== undefined) return { revision: last.revision, isLive: true };
    const { before } = await this.metadataOf(stream);
    return { revision: before - 1, isLive: false };
  }

  private async remove(stream: string, before: number): Promise<void> {
    if (before <= 0) return;
    await this.again(async () => {
      const metadata = await this.metadataOf(stream);
      if (metadata.before >= before) return;
      await this.appender.append(metastreamOf(stream), [metadataEvent({ ...metadata.all, [TRUNCATE_BEFORE]: before })], metadata.revision < 0 ? 'noStream' : metadata.revision);
    });
    await this.again(async () => {
      await this.removals.learn();
      if (this.removals.before(stream) >= before) return;
      await this.appender.append(REMOVALS_STREAM, [removalEvent(randomUUID(), { stream, before })], this.removals.revision < 0 ? 'noStream' : this.removals.revision);
    });
    await this.removals.learn();
  }

  private async metadataOf(stream: string): Promise<{ readonly revision: number; readonly before: number; readonly all: Readonly<Record<string, unknown>> }> {
    const last = await this.readLast(metastreamOf(stream), STEP_MS);
    const all = last === undefined ? {} : (JSON.parse(last.data) as Record<string, unknown>);
    const before = Number(all[TRUNCATE_BEFORE] ?? 0);
    return { revision: last?.revision ?? -1, before: Number.isSafeInteger(before) ? before : 0, all };
  }

  /** Another may write the same list or metadata. */
  private async again(step: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isWrongExpectedRevision(error)) throw error;
      }
    }
  }
}

const metastreamOf = (stream: string): string => `$$${stream}`;

const metadataEvent = (metadata: Readonly<Record<string, unknown>>): NewEvent => ({ id: randomUUID(), type: '$metadata', data: JSON.stringify(metadata), metadata: '{}' });

const holds = (expected: ExpectedRevision, { revision, isLive }: End): boolean => {
  if (expected === 'any') return true;
  if (typeof expected === 'number') return expected === revision;
  return isLive === (expected === 'streamExists');
};
