import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { type AppendAnswer, answerOf } from './append-answer';
import { appendRequest, correlationOf } from './append-request';
import type { Connection } from './connection';
import { serverFault, ServerFault } from './server-errors';
import type { AppendCall } from './transport';

/**
 * A call that is silent for this many milliseconds while others on its connection are answered is dead. If nothing is
 * answered, the server is slow, and nothing is sent again.
 */
const MOST_OVERTAKEN = 10_000;
/** Milliseconds to wait for the answer to an append after a later one was answered: the server stores in order. */
const LOST_AFTER = 900;

interface Waiting {
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (fault: ServerFault) => void;
}

/** A sent append. */
export interface SentAppend {
  /**
   * Rejects with `ServerFault` if the call breaks, or if the answer was lost because that of a later append has come. While the
   * server is silent it never ends: the caller watches the time.
   */
  readonly answer: Promise<AppendAnswer>;
  /** Gives up waiting: rejects as `late`, or as harmless if the append was not sent. Then it never will be. */
  readonly giveUp: () => void;
}

/** Sends all appends of a process over one call. Opens a new call after a failure. */
export class AppendStream {
  private current: OpenStream | undefined;

  constructor(private readonly connection: Connection) {}

  send(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): SentAppend {
    if (this.current?.isDead === true) this.current.break(new ServerFault('late'));
    this.current ??= this.open();
    return this.current.send(stream, events, expected);
  }

  private open(): OpenStream {
    const opened: OpenStream = new OpenStream(this.connection, () => {
      if (this.current === opened) this.current = undefined;
    });
    return opened;
  }
}

/** One call and the callers that wait for its answers. Ignores answers that nobody waits for, such as a second one to the same append. */
class OpenStream {
  /** By number, in the order of sending. */
  private readonly waiting = new Map<number, Waiting>();
  private readonly unsent = new Map<number, () => void>();
  private numbers = 0;
  /** All appends up to this one were sent before one that is stored. */
  private overtaken = 0;
  private heardAt = performance.now();
  /** Since when other calls are answered and this one is not. */
  private overtakenAt: number | undefined;
  private call: AppendCall | undefined;
  private isBroken = false;

  constructor(
    private readonly connection: Connection,
    private readonly onBroken: () => void,
  ) {
    connection
      .batchAppend(
        (call) => this.attach(call),
        () => !this.isBroken,
      )
      .catch((error: unknown) => this.break(serverFault(error)));
  }

  get isDead(): boolean {
    if (this.waiting.size === 0 || this.connection.pulse.heardAt <= this.heardAt) this.overtakenAt = undefined;
    else this.overtakenAt ??= performance.now();
    return this.overtakenAt !== undefined && performance.now() - this.overtakenAt > MOST_OVERTAKEN;
  }

  send(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): SentAppend {
    const { pulse } = this.connection;
    const number = (this.numbers += 1);
    if (this.waiting.size === 0) this.heardAt = performance.now();
    const write = (): void => {
      pulse.asked();
      this.call?.write(appendRequest(number, stream, events, expected));
    };
    const answer = new Promise<AppendAnswer>((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      if (this.call === undefined) this.unsent.set(number, write);
      else write();
    });
    return {
      answer,
      giveUp: () => this.take(number)?.reject(new ServerFault(this.unsent.delete(number) ? 'unreachable' : 'late')),
    };
  }

  break(fault: ServerFault): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.call?.cancel();
    this.onBroken();
    for (const number of this.waiting.keys()) this.take(number)?.reject(fault);
    this.unsent.clear();
  }

  private attach(call: AppendCall): void {
    this.call = call;
    call.on('data', (response) => {
      this.heardAt = performance.now();
      const number = correlationOf(response.getCorrelationId());
      const waiting = this.take(number);
      try {
        const answer = answerOf(response);
        waiting?.resolve(answer);
        if (answer.kind === 'stands') this.overtake(number);
      } catch (error) {
        waiting?.reject(serverFault(error));
      }
    });
    call.on('error', (error) => this.break(serverFault(error)));
    call.on('end', () => this.break(new ServerFault('broken')));
    for (const [number, write] of this.unsent) {
      this.unsent.delete(number);
      write();
    }
  }

  /** Removes a waiting append. */
  private take(number: number): Waiting | undefined {
    const waiting = this.waiting.get(number);
    if (waiting === undefined) return undefined;
    this.waiting.delete(number);
    if (!this.unsent.has(number)) this.connection.pulse.ended();
    return waiting;
  }

  /** A rejection may arrive before the answers to earlier appends; stored appends are answered in order. */
  private overtake(number: number): void {
    const overtaken: number[] = [];
    for (const earlier of this.waiting.keys()) {
      if (earlier > number) break;
      if (earlier > this.overtaken) overtaken.push(earlier);
    }
    this.overtaken = Math.max(this.overtaken, number);
    if (overtaken.length === 0) return;
    setTimeout(() => {
      for (const earlier of overtaken) this.take(earlier)?.reject(new ServerFault('lost'));
    }, LOST_AFTER).unref();
  }
}
