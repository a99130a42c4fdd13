import type { IncomingHttpHeaders } from 'node:http';
import { GatheredBytes } from '@app/kernel';
import { type Dispatcher, errors } from 'undici';
import { UpstreamFailure } from './failure';

/** Takes the body of an answer as it comes. `ended` or `failed` is called once, last. */
export interface BodyReader {
  data(chunk: Buffer): void;
  ended(): void;
  failed(reason: UpstreamFailure): void;
}

/** More of one answer is not read: a hostile or broken provider must not fill the memory. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** More of an answer is not read ahead of its reader. */
const BUFFERED_BYTES = 64 * 1024;
/** How long the rest of an answer that nobody reads may take, so that its connection can be used again. */
const REST_MS = 1_000;

/** One request to a provider and its answer, on undici's lowest level: no stream object stands between socket and reader. */
export class Exchange implements Dispatcher.DispatchHandler {
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** When the request was sent, by `performance.now()`; 0 before. */
  sentAt = 0;
  /** Resolves with the head of the answer; rejects with an `UpstreamFailure`. */
  readonly started: Promise<void>;
  private start: { readonly resolve: () => void; readonly reject: (reason: UpstreamFailure) => void } = NOBODY;
  private controller: Dispatcher.DispatchController | undefined;
  private reader: BodyReader | undefined;
  private early: Buffer[] = [];
  private end: 'ended' | UpstreamFailure | undefined;
  private reason: UpstreamFailure | undefined;
  private rest: NodeJS.Timeout | undefined;
  private endedAt: number | undefined;

  constructor() {
    this.started = new Promise((resolve, reject) => (this.start = { resolve, reject }));
  }

  /** Whether the provider has the request and may be working on an answer. */
  get isAnswering(): boolean {
    return this.controller !== undefined && this.end === undefined && this.reason === undefined && this.status < 300;
  }

  /** Whether an answer that had begun with 2xx did not come to its end. */
  get isCut(): boolean {
    return this.status >= 200 && this.status < 300 && this.end !== undefined && this.end !== 'ended';
  }

  /** How long the provider has had the request, up to the end of its answer, milliseconds. */
  get ms(): number {
    return this.controller === undefined ? 0 : (this.endedAt ?? performance.now()) - this.sentAt;
  }

  /** Hands the body to a reader: first what has come already. */
  follow(reader: BodyReader): void {
    this.reader = reader;
    // A reader that has enough is replaced meanwhile.
    for (const chunk of this.early) this.reader.data(chunk);
    this.early = [];
    if (this.end === 'ended') this.reader.ended();
    else if (this.end !== undefined) this.reader.failed(this.end);
  }

  /** The whole body; rejects with an `UpstreamFailure`, also when it is longer than `limit` bytes. */
  whole(limit = MAX_ANSWER_BYTES): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const bytes = new GatheredBytes();
      const data = (chunk: Buffer): void => {
        if (bytes.length + chunk.length > limit) reject(this.tooLong());
        else bytes.add(chunk);
      };
      this.follow({
        data,
        ended: () => resolve(bytes.whole()),
        failed: reject,
      });
    });
  }

  /** The body as a web stream, for clients that read one; fails with an `UpstreamFailure`, also when it is longer than `limit` bytes. */
  body(limit = MAX_ANSWER_BYTES): ReadableStream<Uint8Array> {
    let length = 0;
    return new ReadableStream<Uint8Array>(
      {
        start: (stream) =>
          this.follow({
            data: (chunk) => {
              length += chunk.length;
              if (length > limit) return stream.error(this.tooLong());
              stream.enqueue(chunk);
              if ((stream.desiredSize ?? 0) <= 0) this.pause();
            },
            ended: () => stream.close(),
            failed: (reason) => stream.error(reason),
          }),
        pull: () => this.resume(),
        cancel: () => this.release(),
      },
      { highWaterMark: BUFFERED_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    );
  }

  /** The reader is slow: nothing more is read from the provider until `resume`. */
  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  /** Ends the exchange at once; whoever waits for it gets the reason. */
  abort(reason: UpstreamFailure): void {
    if (this.end !== undefined || this.reason !== undefined) return;
    this.reason = reason;
    if (this.controller === undefined) this.start.reject(reason);
    else this.controller.abort(reason);
  }

  /** Nobody reads on. */
  release(): void {
    this.reader = DEAF;
    this.controller?.resume();
    if (this.end === undefined)
      this.rest = setTimeout(() => this.abort(new UpstreamFailure('aborted')), REST_MS).unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    this.sentAt = performance.now();
    if (this.reason !== undefined) controller.abort(this.reason);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // They keep the whole first read of the connection.
    controller.rawHeaders = null;
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.start.resolve();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.reader === undefined) this.early.push(chunk);
    else this.reader.data(chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.rest);
    // It was given up between its last piece and its end, which came in one read.
    if (this.reason !== undefined) return this.fail(this.reason);
    this.endedAt = performance.now();
    this.end = 'ended';
    this.reader?.ended();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.rest);
    const kind =
      this.controller === undefined ? 'unreachable' : error instanceof errors.BodyTimeoutError ? 'timeout' : 'broken';
    this.fail(this.reason ?? new UpstreamFailure(kind));
  }

  /** Ends the exchange, and hands out no more of it. */
  private tooLong(): UpstreamFailure {
    const reason = new UpstreamFailure('broken');
    this.reader = DEAF;
    this.abort(reason);
    return reason;
  }

  private fail(reason: UpstreamFailure): void {
    if (this.end !== undefined) return;
    this.endedAt = performance.now();
    this.end = reason;
    this.start.reject(reason);
    this.reader?.failed(reason);
  }
}

const NOBODY = { resolve: () => undefined, reject: () => undefined };
const DEAF: BodyReader = { data: () => undefined, ended: () => undefined, failed: () => undefined };
