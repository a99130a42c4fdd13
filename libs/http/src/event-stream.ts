import { PassThrough, type Readable } from 'node:stream';

/** Send something this often: proxies close idle connections. */
const HEARTBEAT_MS = 15_000;

/** Sends Server-Sent Events to one reader. Waits for a slow reader; ends when the reader leaves. */
export class EventStream {
  /** Resolves when the reader has left or the stream has ended. */
  readonly gone: Promise<void>;
  private readonly lines = new PassThrough();

  constructor() {
    // Not `once` of node:events: it rejects when an error ends the stream.
    this.gone = new Promise((resolve) => this.lines.once('close', resolve));
    const heartbeat = setInterval(() => this.lines.write(':\n\n'), HEARTBEAT_MS);
    void this.gone.then(() => clearInterval(heartbeat));
  }

  /** The body of the answer. In a `StreamableFile` if it has no end of its own: Nest wraps any other, and a stop could not end it. */
  get body(): Readable {
    return this.lines;
  }

  get open(): boolean {
    return !this.lines.destroyed && !this.lines.writableEnded;
  }

  /** Sends an event. Returns false when the reader has left. `data` is one line, such as JSON. */
  async send(id: string, data: string, event?: string): Promise<boolean> {
    if (!this.open) return false;
    const text = `id: ${id}\n${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
    if (!this.lines.write(text))
      await Promise.race([new Promise((resolve) => this.lines.once('drain', resolve)), this.gone]);
    return this.open;
  }

  /** Sends a comment, so that the reader gets the headers at once. */
  begin(comment: string): void {
    this.lines.write(`: ${comment}\n\n`);
  }

  end(error?: Error): void {
    if (error === undefined) this.lines.end();
    else this.lines.destroy(error);
  }
}
