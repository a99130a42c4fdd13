import { refuse } from '@app/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OpenStreams } from './open-streams';
import type { Overload } from './overload';

/** The requests that are being answered, so that a stop can wait for them. */
export class OpenRequests {
  readonly streams = new OpenStreams();
  private draining = false;
  private open = 0;
  private whenNone: (() => void) | undefined;

  constructor(private readonly overload: Overload) {}

  /** Counts a request until its connection is done with it. While draining or overloaded only health is still answered. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const reason = this.draining ? 'stopping' : this.overload.reasonFor(request.raw.socket);
    if (reason !== undefined) {
      reply.header('connection', 'close');
      if (!request.url.startsWith('/health/')) refuse('unavailable', { reason });
    }
    this.open += 1;
    reply.raw.on('close', this.onClosed);
  }

  /** Takes no further requests; resolves when none is open, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.draining = true;
    this.streams.endFollowed();
    if (this.open === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.whenNone = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  private readonly onClosed = (): void => {
    this.open -= 1;
    if (this.open === 0) this.whenNone?.();
  };
}
