import { setTimeout as pause } from 'node:timers/promises';
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvent,
  reject,
  type StoredEvent,
  Unavailable,
  WAIT_MS,
  waiting,
  WrongExpectedRevision,
} from '@app/kernel';
import { LogCorrupted, MixedRepeat, type OurEvents } from '../event-log';
import type { AppendAnswer } from './append-answer';
import type { AppendStream } from './append-stream';
import { type Attempt, type Link, retry } from './retry';
import { LOG_DEPENDENCY, serverFault, type ServerFault, unavailable } from './server-errors';
import { ShownStream, type StreamReads } from './shown-stream';

/** Most appends that may wait for the server, and characters of them, as for the embedded log. More are rejected. */
const MOST_WAITING = 20_000;
const MOST_WAITING_CHARACTERS = 64 * 1024 * 1024;
/** Pause before an append is sent again to a stream that is being reopened, milliseconds. */
const REOPENED_MS = 25;

/**
 * Appends exactly once, even if answers are lost. At `noStream` or an exact revision the server recognises an append by its
 * ids, so one without an answer is sent again until it is answered. At `any` and `streamExists` it does not, so nothing that
 * may have been written is sent twice.
 */
export class Appender {
  /** Why the last append was not answered, and when by `performance.now()`; undefined when it was. */
  trouble: { readonly reason: string; readonly at: number } | undefined;
  private waiting = 0;
  private characters = 0;
  private readonly shown: ShownStream;

  constructor(
    private readonly link: Link,
    private readonly stream: AppendStream,
    reads: StreamReads,
    private readonly ours?: OurEvents,
  ) {
    this.shown = new ShownStream(reads);
  }

  /** Throws `WrongExpectedRevision`, `MixedRepeat`, `Unavailable`, `DomainError` `too_large`, or `LogCorrupted` for a stream that others write to. */
  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (this.waiting >= MOST_WAITING || this.characters >= MOST_WAITING_CHARACTERS)
      throw new Unavailable(LOG_DEPENDENCY, 'too many appends are waiting for the server');
    const size = sizeOf(events);
    this.waiting += 1;
    this.characters += size;
    try {
      return await waiting(WAIT_MS, (milliseconds) =>
        this.answered({ stream, events, expected, ends: performance.now() + milliseconds }, expected),
      );
    } finally {
      this.waiting -= 1;
      this.characters -= size;
    }
  }

  /** Appends with an expectation that replaces the requested one. */
  private async answered(asked: Asked, expected: ExpectedRevision): Promise<AppendResult> {
    const answer = await this.settled(asked, expected);
    switch (answer.kind) {
      case 'stands':
        return {
          revision: answer.revision,
          position: answer.position ?? (await this.positionOf(asked, answer.revision)),
        };
      case 'deleted':
        await this.shown.untilGone(asked);
        throw wrongRevision(asked, -1);
      case 'tooLarge':
        return reject('too_large', { bytes: bytesOf(asked.events), limit: answer.limit });
      case 'wrongRevision':
        return this.rejected(asked, expected, answer.actual);
    }
  }

  /** Sends until there is an answer, or the outcome is unknown, or the time is over. On a living connection it sends again only if the answer was lost. */
  private async settled({ stream, events, ends }: Asked, expected: ExpectedRevision): Promise<AppendAnswer> {
    const isExact = expected !== 'any' && expected !== 'streamExists';
    let isUnknown = false;
    const send: Attempt<AppendAnswer> = async (milliseconds, givenUp) => {
      const { answer, giveUp } = this.stream.send(stream, events, expected);
      // After a pause of this process, answers that arrived meanwhile come first.
      const timer = setTimeout(() => setImmediate(giveUp), milliseconds);
      givenUp?.addEventListener('abort', giveUp, { once: true });
      try {
        return await answer;
      } catch (error) {
        if (!serverFault(error).isHarmless) isUnknown = true;
        throw error;
      } finally {
        clearTimeout(timer);
      }
    };
    try {
      const answer = await retry(this.link, send, {
        timeoutMs: ends - performance.now(),
        isRetryable: ({ isPassing }) => isPassing && (isExact || !isUnknown),
      });
      this.trouble = undefined;
      return answer;
    } catch (error) {
      const fault = error as ServerFault;
      this.trouble = { reason: fault.message, at: performance.now() };
      throw unavailable(fault, isUnknown ? 'unknown' : 'none');
    }
  }

  /** The server tells the revision of a repeated append, but not its position if it was removed since. */
  private async positionOf(asked: Asked, revision: number): Promise<string> {
    const shown = await this.shown.upTo({ ...asked, told: revision, from: revision, limit: 1 });
    const [event] = shown.kind === 'events' ? shown.events : [];
    if (event?.revision === revision) return event.position;
    throw wrongRevision(asked, event === undefined ? -1 : ((await this.shown.last(asked))?.revision ?? -1));
  }

  /**
   * Distinguishes a repeat at another revision, a mix of known and new events, and a lost race. Waits until the winner of a
   * race can be read.
   */
  private async rejected(asked: Asked, expected: ExpectedRevision, actual: number): Promise<AppendResult> {
    const { stream, events } = asked;
    if (actual < 0) throw wrongRevision(asked, -1);
    if (expected === 'any' || expected === 'streamExists') throw new MixedRepeat(stream);
    const intended = expected === 'noStream' ? 0 : expected + 1;
    const shown = await this.shown.upTo({
      ...asked,
      told: actual,
      from: Math.min(intended, actual),
      limit: events.length,
    });
    if (shown.kind === 'truncated') return this.goOn(asked, actual);
    if (shown.kind === 'softDeleted') return this.goOn(asked, 'noStream');
    if (intended > actual) throw wrongRevision(asked, actual);
    const known = shown.events.filter((event, index) => event.id === events[index]?.id).length;
    const last = shown.events.at(-1);
    if (last !== undefined && known === events.length) return { revision: last.revision, position: last.position };
    if (known > 0) throw new MixedRepeat(stream);
    const theirs = shown.events.find((event) => this.isForeign(event));
    throw theirs === undefined
      ? wrongRevision(asked, actual)
      : new LogCorrupted(
          `${stream}@${theirs.revision}`,
          'another program wrote this event; the stream is read without it and can no longer be written',
        );
  }

  /** An event that another program wrote into one of our streams. */
  private isForeign(event: StoredEvent): boolean {
    return !event.stream.startsWith('$') && this.ours?.isOurs(event) === false;
  }

  /** A stream whose events were all removed counts as missing, and continues at the next revision. */
  private async goOn(asked: Asked, next: 'noStream' | number): Promise<AppendResult> {
    if (asked.expected !== 'noStream') throw wrongRevision(asked, -1);
    // At `noStream` the server itself continues after a soft deletion. It rejected: another append came first, which cannot be read yet.
    if (next === 'noStream') await pause(REOPENED_MS);
    return this.answered(asked, next);
  }
}

/** An append and its deadline. */
interface Asked {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
  readonly ends: number;
}

const wrongRevision = ({ stream, expected }: Asked, actual: number): WrongExpectedRevision =>
  new WrongExpectedRevision(stream, expected, actual);

const sizeOf = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + type.length + data.length + metadata.length, 0);

const bytesOf = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + Buffer.byteLength(type + data + metadata), 0);
