import { Readable } from 'node:stream';

/** Send something this often: proxies close idle connections. */
const HEARTBEAT_MS = 15_000;

/** The lines of an event stream, which a stop of the process can end. */
export class EventLines extends Readable {
  /** Called when their reader may read no further. Ends them, unless they have an end that says why. */
  rejected: (reason: unknown) => void = () => this.end();
  private ended = false;

  /** `wanted` is called when its reader wants more. */
  constructor(wanted: () => void) {
    super({ read: wanted });
  }

  get open(): boolean {
    return !this.destroyed && !this.ended;
  }

  /** Sends what was pushed, and ends. */
  end(): void {
    if (!this.open) return;
    this.ended = true;
    this.push(null);
  }
}

/** Sends Server-Sent Events to one reader. Waits for a slow reader; ends when the reader leaves. */
export class EventStream {
  /** Resolves when the reader has left or the stream has ended. */
  readonly gone: Promise<void>;
  /** Called when a slow reader wants more. */
  private wake = (): void => undefined;
  private readonly lines = new EventLines(() => this.wake());

  constructor() {
    // Not `once` of node:events: it rejects when an error ends the stream.
    this.gone = new Promise((resolve) => this.lines.once('close', resolve));
    const heartbeat = setInterval(() => this.write(':\n\n'), HEARTBEAT_MS);
    void this.gone.then(() => clearInterval(heartbeat));
  }

  /** The body of the answer. In a `StreamableFile` if it has no end of its own: Nest wraps any other, and a stop could not end it. */
  get body(): Readable {
    return this.lines;
  }

  get open(): boolean {
    return this.lines.open;
  }

  /** Sends an event. Returns false when the reader has left. `data` is one line, such as JSON. */
  async send(id: string, data: string, event?: string): Promise<boolean> {
    if (!this.open) return false;
    const text = `id: ${id}\n${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`;
    if (!this.write(text)) await Promise.race([new Promise<void>((resolve) => (this.wake = resolve)), this.gone]);
    return this.open;
  }

  /** Sends a comment, so that the reader gets the headers at once. */
  begin(comment: string): void {
    this.write(`: ${comment}\n\n`);
  }

  /** Says that the log was restored from an older backup: what was sent may be lost. The reader fetches it anew, and goes on behind this id. */
  async restored(id: string): Promise<void> {
    await this.send(id, '{}', 'restored');
  }

  /** Has `end` called when the reader may read no further, such as with a revoked key; it may say why. Else the stream just ends. */
  onRejected(end: (reason: unknown) => void): void {
    this.lines.rejected = (reason) => {
      if (!this.open) return;
      end(reason);
      this.end();
    };
  }

  end(error?: Error): void {
    if (error === undefined) this.lines.end();
    else if (this.open) this.lines.destroy(error);
  }

  /** False where the reader is slow. */
  private write(text: string): boolean {
    return !this.open || this.lines.push(text);
  }
}
