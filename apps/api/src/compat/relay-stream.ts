import { type BodyReader, type Exchange, UpstreamFailure, USAGE_MS } from '@app/models';
import { brokenEnd, type ChatStream } from './chat-stream';
import type { EventWriter } from './event-writer';
import { streamError } from './upstream-errors';

/** More than this is not read behind the end of an answer while its client does not read: a usage is far shorter. */
const MAX_END_BYTES = 1024 * 1024;

export interface Relayed {
  readonly exchange: Exchange;
  readonly stream: ChatStream;
  readonly writer: EventWriter;
  /** Called with the first that the client gets of the answer. */
  readonly begun: () => void;
  /** Ends the call: nobody waits for what its provider makes. */
  readonly abort: () => void;
}

/**
 * Passes a provider's stream to the client until one of them ends it. Pieces that arrive together are sent together.
 * Rejects with an `UpstreamFailure` if nothing was sent yet; afterwards it tells the client in the stream and
 * resolves with the failure. If the client leaves a finished answer, it still waits for the usage: leaving does not
 * avoid the bill.
 */
export const relayStream = (relayed: Relayed): Promise<UpstreamFailure | undefined> =>
  new Promise((resolve, reject) => new StreamRelay(relayed, resolve, reject).start());

class StreamRelay implements BodyReader {
  private waiting = '';
  private scheduled = false;
  /** Bytes that came behind the end of the answer. */
  private endBytes = 0;
  private timeout: NodeJS.Timeout | undefined;

  constructor(
    private readonly relayed: Relayed,
    private readonly resolve: (failure?: UpstreamFailure) => void,
    private readonly reject: (failure: UpstreamFailure) => void,
  ) {}

  start(): void {
    const { writer, exchange } = this.relayed;
    writer.onLeft = () => this.leave();
    writer.keepAlive();
    exchange.follow(this);
  }

  data(chunk: Buffer): void {
    if (this.relayed.stream.finished) this.endBytes += chunk.length;
    if (this.timeout !== undefined && this.endBytes > MAX_END_BYTES) return this.relayed.abort();
    this.waiting += chunk.toString('latin1');
    if (this.scheduled) return;
    this.scheduled = true;
    // The parser hands out every piece of one read before this runs.
    process.nextTick(() => this.flush());
  }

  ended(): void {
    this.flush();
    const { stream } = this.relayed;
    if (!stream.over) this.finish(stream.end());
  }

  failed(reason: UpstreamFailure): void {
    const { stream } = this.relayed;
    if (reason.kind !== 'aborted') this.flush();
    if (stream.over) return;
    stream.over = true;
    this.breakOff('', reason);
  }

  private flush(): void {
    const { exchange, stream, writer, begun } = this.relayed;
    this.scheduled = false;
    if (this.waiting === '' || stream.over) return;
    const text = stream.accept(this.waiting);
    this.waiting = '';
    if (text !== '') begun();
    if (stream.over) this.finish(text);
    else if (text !== '' && !writer.write(text) && !(stream.finished && this.endBytes < MAX_END_BYTES)) {
      stream.slowed = true;
      exchange.pause();
      writer.drained(() => exchange.resume());
    }
  }

  private leave(): void {
    const { exchange, stream, writer, abort } = this.relayed;
    if (stream.over) return;
    if (!stream.finished) return abort();
    writer.stop();
    this.timeout = setTimeout(abort, USAGE_MS);
    exchange.resume();
  }

  /** The stream is over: what is left of the provider's answer is not for the client. */
  private finish(text: string): void {
    const { exchange, stream, writer } = this.relayed;
    if (stream.broken) {
      exchange.abort(new UpstreamFailure('broken'));
      this.breakOff(text, new UpstreamFailure('broken'));
      return;
    }
    exchange.release();
    writer.end(text);
    this.end(this.timeout === undefined ? undefined : new UpstreamFailure('aborted'));
  }

  private breakOff(text: string, failure: UpstreamFailure): void {
    const { writer, abort } = this.relayed;
    if (text === '' && !writer.begun) {
      clearTimeout(this.timeout);
      writer.rest();
      writer.onLeft = abort;
      this.reject(failure);
      return;
    }
    if (failure.kind !== 'aborted') writer.end(text + brokenEnd(streamError(failure)));
    this.end(failure);
  }

  private end(failure?: UpstreamFailure): void {
    clearTimeout(this.timeout);
    this.resolve(failure);
  }
}
