import { type BodyReader, type Exchange, UpstreamFailure } from '@app/models';
import { brokenEnd, type ChatStream } from './chat-stream';
import type { EventWriter } from './event-writer';
import { streamError } from './upstream-errors';

/**
 * Passes a provider's stream on to the client until one of them ends it. Pieces that arrive together leave together. Rejects
 * with an `UpstreamFailure` while nothing was sent; afterwards the client is told in the stream, and the failure is resolved.
 * `begun` is called with the first that the client gets of the answer.
 */
export const relayStream = (exchange: Exchange, stream: ChatStream, writer: EventWriter, begun: () => void): Promise<UpstreamFailure | undefined> =>
  new Promise((resolve, reject) => new StreamRelay(exchange, stream, writer, begun, resolve, reject).start());

class StreamRelay implements BodyReader {
  private waiting = '';
  private scheduled = false;

  constructor(
    private readonly exchange: Exchange,
    private readonly stream: ChatStream,
    private readonly writer: EventWriter,
    private readonly begun: () => void,
    private readonly resolve: (failure?: UpstreamFailure) => void,
    private readonly reject: (failure: UpstreamFailure) => void,
  ) {}

  start(): void {
    this.writer.keepAlive();
    this.exchange.follow(this);
  }

  data(chunk: Buffer): void {
    this.waiting += chunk.toString('latin1');
    if (this.scheduled) return;
    this.scheduled = true;
    // The parser hands out every piece of one read before this runs.
    process.nextTick(() => this.flush());
  }

  ended(): void {
    this.flush();
    if (!this.stream.over) this.finish(this.stream.end());
  }

  failed(reason: UpstreamFailure): void {
    if (reason.kind !== 'aborted') this.flush();
    if (this.stream.over) return;
    this.stream.over = true;
    this.breakOff('', reason);
  }

  private flush(): void {
    this.scheduled = false;
    if (this.waiting === '' || this.stream.over) return;
    const text = this.stream.accept(this.waiting);
    this.waiting = '';
    if (text !== '') this.begun();
    if (this.stream.over) this.finish(text);
    else if (text !== '' && !this.writer.write(text)) {
      this.exchange.pause();
      this.writer.drained(() => this.exchange.resume());
    }
  }

  /** The stream is over: what is left of the provider's answer is not for the client. */
  private finish(text: string): void {
    if (this.stream.broken) {
      this.exchange.abort(new UpstreamFailure('broken'));
      this.breakOff(text, new UpstreamFailure('broken'));
      return;
    }
    this.exchange.release();
    this.writer.end(text);
    this.resolve();
  }

  private breakOff(text: string, failure: UpstreamFailure): void {
    if (text === '' && !this.writer.begun) {
      this.writer.rest();
      this.reject(failure);
      return;
    }
    if (failure.kind !== 'aborted') this.writer.end(text + brokenEnd(streamError(failure)));
    this.resolve(failure);
  }
}
