import type { ServerResponse } from 'node:http';
import { envelopeOf, type OpenStreams } from '@app/http';
import type { FastifyReply } from 'fastify';
import { brokenEnd } from './chat-stream';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
/** Readers and proxies give up where nothing comes for long. */
const KEEP_ALIVE_MS = 15_000;
/** One line break: an empty line behind a comment is an event to some readers. */
const KEEP_ALIVE = ': keepalive\n';

/** A longer text is handed over as bytes: as text it would keep every piece that it was put together from until a slow client has read it. */
const LONG = 16_384;

/** Writes a stream of events to a client, straight to its connection. The head goes with the first text, so that an error before it is an ordinary answer. */
export class EventWriter {
  /** Called when the client left before the end. */
  onLeft: () => void = () => undefined;
  private readonly response: ServerResponse;
  private silence: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly reply: FastifyReply,
    private readonly streams: Pick<OpenStreams, 'add'>,
  ) {
    this.response = reply.raw;
    this.response.once('close', () => {
      clearTimeout(this.silence);
      if (!this.ended) this.onLeft();
    });
  }

  /** Whether anything was sent. */
  get begun(): boolean {
    return this.response.headersSent;
  }

  /** From now on a silent provider is made up for with comments. */
  keepAlive(): void {
    this.silence = setTimeout(() => {
      this.write(KEEP_ALIVE);
      this.silence?.refresh();
    }, KEEP_ALIVE_MS);
  }

  /** No comments while nobody answers. */
  rest(): void {
    clearTimeout(this.silence);
  }

  /** Sends latin1 text; false when the client is slow, and `drained` says when to go on. */
  write(text: string): boolean {
    if (this.ended) return true;
    if (!this.begun) this.begin();
    this.silence?.refresh();
    return text.length > LONG ? this.response.write(Buffer.from(text, 'latin1')) : this.response.write(text, 'latin1');
  }

  drained(goOn: () => void): void {
    this.response.once('drain', goOn);
  }

  end(text: string): void {
    if (this.ended) return;
    if (!this.begun) this.begin();
    this.stop();
    this.response.end(text, 'latin1');
  }

  /** Nothing was sent and nothing will be: the answer becomes an ordinary one. */
  stop(): void {
    this.ended = true;
    clearTimeout(this.silence);
  }

  /** The caller may read no further. */
  private reject(reason: unknown): void {
    if (this.ended) return;
    this.end(brokenEnd(envelopeOf(reason).body));
    this.onLeft();
  }

  private begin(): void {
    const { reply, response } = this;
    reply.hijack();
    this.streams.add(response, reply.request, (reason) => this.reject(reason));
    response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS });
  }
}
