import type { Worker } from 'node:worker_threads';
import {
  type AppendResult,
  type ExpectedRevision,
  type NewEvent,
  startThread,
  threadEnds,
  Unavailable,
  WrongExpectedRevision,
} from '@app/kernel/threads';
import { LogCorrupted, MixedRepeat } from '../event-log';
import { positionText } from './positions';
import { LOG_DEPENDENCY } from './sqlite-errors';
import {
  type AppendRequest,
  packRequests,
  type RemovalRequest,
  type Reply,
  unpackReplies,
  type WriterMessage,
  type WriterRequest,
} from './writer-protocol';

/** Reject appends while this many, or this many bytes, wait for the disk. */
const MOST_WAITING = 20_000;
const MOST_WAITING_BYTES = 64 * 1024 * 1024;
/** Wait this long before replacing a writer thread that died. */
const RESTART_MS = 200;

interface Pending {
  readonly request: AppendRequest | RemovalRequest;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: Error) => void;
}

/** What the writer tells of the log, always before the promise concerned settles. */
export interface WriterEvents {
  /** Open for writing, at first or again: what was remembered of the log may be wrong. */
  onUp(head: number, indexed: number): void;
  /** Takes new events, ordered by position. Returns the answer for their appender. */
  onAppended(request: AppendRequest, position: number, revision: number): AppendResult;
  onWrongRevision(stream: string, actual: number): void;
  /** The index of streams has reached a position. */
  onIndexed(upTo: number): void;
  onRemoved(stream: string, before: number): void;
  /** Called after each commit. */
  onCommitted(): void;
}

/** The writer thread as the main thread sees it: requests of one tick go over in one message. */
export class LogWriter {
  /** Why the log cannot be written now, in one sentence. */
  down: string | undefined = 'it is opening';
  /** What opening the log found. */
  notice: string | undefined;
  private thread: Worker;
  private readonly pending = new Map<number, Pending>();
  private queue: WriterRequest[] = [];
  private waitingBytes = 0;
  private requests = 0;
  private isClosing = false;
  private readonly opened = Promise.withResolvers<void>();
  private readonly closed = Promise.withResolvers<void>();

  private constructor(
    private readonly folder: string,
    private readonly events: WriterEvents,
  ) {
    this.thread = this.start();
  }

  /** Throws `LogCorrupted`, or `Unavailable` if the disk prevents opening. */
  static async open(folder: string, events: WriterEvents): Promise<LogWriter> {
    const writer = new LogWriter(folder, events);
    try {
      await writer.opened.promise;
      return writer;
    } catch (error) {
      writer.isClosing = true;
      await threadEnds(writer.thread);
      throw error;
    }
  }

  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    bytes: number,
  ): Promise<AppendResult> {
    return this.send({ kind: 'append', id: (this.requests += 1), stream, events, expected, bytes });
  }

  async remove(stream: string, expected: ExpectedRevision, before: number | undefined): Promise<void> {
    await this.send({ kind: 'removal', id: (this.requests += 1), stream, expected, before });
  }

  /** Closes after all earlier requests. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.enqueue({ kind: 'close' });
    await this.closed.promise;
    await threadEnds(this.thread);
  }

  private send(request: AppendRequest | RemovalRequest): Promise<AppendResult> {
    const reason = this.rejection();
    if (reason !== undefined) return Promise.reject(new Unavailable(LOG_DEPENDENCY, reason));
    return new Promise((resolve, reject) => {
      this.pending.set(request.id, { request, resolve, reject });
      if (request.kind === 'append') this.waitingBytes += request.bytes;
      this.enqueue(request);
    });
  }

  private rejection(): string | undefined {
    if (this.isClosing) return 'it is closing';
    if (this.down !== undefined) return this.down;
    return this.pending.size >= MOST_WAITING || this.waitingBytes >= MOST_WAITING_BYTES
      ? 'too many writes are waiting for the disk'
      : undefined;
  }

  private enqueue(request: WriterRequest): void {
    this.queue.push(request);
    if (this.queue.length > 1) return;
    setImmediate(() => {
      const requests = this.queue;
      this.queue = [];
      this.thread.postMessage(packRequests(requests));
    });
  }

  private start(): Worker {
    const thread = startThread(__dirname, 'writer.thread', __filename, { workerData: { folder: this.folder } });
    let fault = 'the writer thread ended';
    thread.on('message', (message: WriterMessage) => this.receive(message));
    thread.on('error', (error) => (fault = `the writer thread failed: ${error.message}`));
    thread.on('exit', () => this.restart(fault));
    return thread;
  }

  private restart(reason: string): void {
    if (this.isClosing) return this.closed.resolve();
    this.down = reason;
    for (const { request } of this.pending.values())
      this.settle({ id: request.id, kind: 'unavailable', reason, outcome: 'unknown' });
    setTimeout(() => {
      if (this.isClosing) this.closed.resolve();
      else this.thread = this.start();
    }, RESTART_MS);
  }

  private receive(message: WriterMessage): void {
    switch (message.kind) {
      case 'up':
        this.down = undefined;
        this.notice = message.notice ?? this.notice;
        this.events.onUp(message.head, message.indexed);
        return this.opened.resolve();
      case 'indexed':
        return this.events.onIndexed(message.upTo);
      case 'rejected':
        return this.reject(
          message.place === undefined
            ? new Unavailable(LOG_DEPENDENCY, message.detail)
            : new LogCorrupted(message.place, message.detail),
        );
      case 'down':
        this.down = message.reason;
        return;
      case 'done':
        unpackReplies(message.replies, (reply) => this.settle(reply));
        return this.events.onCommitted();
      case 'closed':
        return this.closed.resolve();
    }
  }

  private reject(error: Error): void {
    this.down = error.message;
    this.opened.reject(error);
  }

  private settle(reply: Reply): void {
    const pending = this.pending.get(reply.id);
    if (pending === undefined) return;
    this.pending.delete(reply.id);
    const { request, resolve, reject } = pending;
    if (request.kind === 'append') this.waitingBytes -= request.bytes;
    switch (reply.kind) {
      case 'appended':
        return resolve(this.events.onAppended(request as AppendRequest, reply.position, reply.revision));
      case 'repeated':
        return resolve({ position: positionText(reply.position), revision: reply.revision });
      case 'removed':
        this.events.onRemoved(request.stream, reply.before);
        return resolve({ position: '', revision: -1 });
      case 'wrongRevision':
        this.events.onWrongRevision(request.stream, reply.actual);
        return reject(new WrongExpectedRevision(request.stream, request.expected, reply.actual));
      case 'mixed':
        return reject(new MixedRepeat(request.stream));
      case 'corrupted':
        return reject(new LogCorrupted(reply.place, reply.detail));
      case 'unavailable':
        return reject(new Unavailable(LOG_DEPENDENCY, reply.reason, reply.outcome));
    }
  }
}
