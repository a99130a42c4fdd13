import { type AppendResult, type ExpectedRevision, isUnavailable, type NewEvent, refuse, type StoredEvent, Unavailable, WrongExpectedRevision } from '@app/kernel';
import { MixedRepeat } from '../event-log';
import type { AppendAnswer } from './append-answer';
import type { AppendStream } from './append-stream';
import { patiently, within } from './patience';
import { LOG_DEPENDENCY, ServerFault, unavailable } from './server-errors';

/** Milliseconds within which an append is answered or fails, everything included. */
const APPEND_MS = 1_900;
/** Milliseconds after which an append without an answer is sent once more, where that is safe. */
const FIRST_TRY_MS = 900;
/** Most appends that wait for the server before more are refused. */
const MOST_WAITING = 20_000;

/** Reads events of a stream from a revision on, within so many milliseconds. Throws `Unavailable`. */
export type ReadBack = (stream: string, from: number, limit: number, milliseconds: number) => Promise<readonly StoredEvent[]>;

/**
 * Appends once, whatever becomes of answers. At `noStream` or an exact revision the server knows an append again by its ids,
 * so one without an answer is sent again until it is answered. At `any` and `streamExists` it does not, and nothing is
 * sent twice that may have been written.
 */
export class Appender {
  /** Why the last append was not answered, and when by `performance.now()`; undefined when it was. */
  trouble: { readonly reason: string; readonly at: number } | undefined;
  private waiting = 0;

  constructor(
    private readonly stream: AppendStream,
    private readonly readBack: ReadBack,
  ) {}

  /** Throws `WrongExpectedRevision`, `MixedRepeat`, `Unavailable` or `DomainError` `too_large`. */
  async append(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendResult> {
    if (this.waiting >= MOST_WAITING) throw new Unavailable(LOG_DEPENDENCY, 'too many appends wait for the server');
    this.waiting += 1;
    try {
      return await this.answered({ stream, events, expected, ends: performance.now() + APPEND_MS }, expected);
    } finally {
      this.waiting -= 1;
    }
  }

  /** Appends with an expectation that stands for the one asked for. */
  private async answered(asked: Asked, expected: ExpectedRevision): Promise<AppendResult> {
    const answer = await this.settled(asked, expected);
    switch (answer.kind) {
      case 'stands':
        return { revision: answer.revision, position: answer.position ?? (await this.positionOf(asked, answer.revision)) };
      case 'deleted':
        throw wrongRevision(asked, -1);
      case 'tooLarge':
        return refuse('too_large', { bytes: bytesOf(asked.events), limit: answer.limit });
      case 'wrongRevision':
        return this.refused(asked, expected, answer.actual);
    }
  }

  /** Sends until there is an answer, or no telling, or no time. */
  private async settled({ stream, events, ends }: Asked, expected: ExpectedRevision): Promise<AppendAnswer> {
    const isExact = expected !== 'any' && expected !== 'streamExists';
    let isUnknown = false;
    try {
      const answer = await patiently(
        ends - performance.now(),
        async (left) => {
          try {
            return await within(isExact && left > FIRST_TRY_MS ? FIRST_TRY_MS : left, this.stream.send(stream, events, expected));
          } catch (error) {
            if (!(error instanceof ServerFault && error.isHarmless)) isUnknown = true;
            throw error;
          }
        },
        (fault) => fault.isPassing && (isExact || !isUnknown),
      );
      this.trouble = undefined;
      return answer;
    } catch (error) {
      const fault = error as ServerFault;
      this.trouble = { reason: fault.message, at: performance.now() };
      throw unavailable(fault, isUnknown ? 'unknown' : 'none');
    }
  }

  /** The server says where a repeated append stands, but not always its position. */
  private async positionOf(asked: Asked, revision: number): Promise<string> {
    const [event] = await this.read(asked, revision, 1);
    if (event?.revision !== revision) throw wrongRevision(asked, -1);
    return event.position;
  }

  /** Tells a repeat that stands elsewhere than the server looks, a mix of known and new events, and a lost race apart. */
  private async refused(asked: Asked, expected: ExpectedRevision, actual: number): Promise<AppendResult> {
    const { stream, events } = asked;
    const intended = expected === 'noStream' ? 0 : typeof expected === 'number' ? expected + 1 : undefined;
    if (intended === undefined) throw actual < 0 ? wrongRevision(asked, -1) : new MixedRepeat(stream);
    if (intended > actual) throw wrongRevision(asked, actual);
    const stored = await this.read(asked, intended, events.length);
    const known = stored.filter((event, index) => event.id === events[index]?.id).length;
    const last = stored.at(-1);
    if (last !== undefined && known === events.length) return { revision: last.revision, position: last.position };
    if (known > 0) throw new MixedRepeat(stream);
    // All events of the stream were removed: it counts as none, and goes on at the next revision.
    if (last === undefined && expected === 'noStream') return this.answered(asked, actual);
    throw wrongRevision(asked, last === undefined ? -1 : actual);
  }

  /** What was sent may stand where this fails. */
  private async read({ stream, ends }: Asked, from: number, limit: number): Promise<readonly StoredEvent[]> {
    try {
      return await this.readBack(stream, from, limit, ends - performance.now());
    } catch (error) {
      throw isUnavailable(error) ? new Unavailable(LOG_DEPENDENCY, error.reason, 'unknown', { cause: error }) : error;
    }
  }
}

/** An append as its caller wants it, and when it must be answered. */
interface Asked {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
  readonly ends: number;
}

const wrongRevision = ({ stream, expected }: Asked, actual: number): WrongExpectedRevision => new WrongExpectedRevision(stream, expected, actual);

const bytesOf = (events: readonly NewEvent[]): number => events.reduce((sum, { type, data, metadata }) => sum + Buffer.byteLength(type + data + metadata), 0);
