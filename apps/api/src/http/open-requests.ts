import { Duplex } from 'node:stream';
import { refuse } from '@app/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The requests that are being answered, so that a stop can wait for them. */
export class OpenRequests {
  private readonly stopping = new AbortController();
  private open = 0;
  private whenNone: (() => void) | undefined;

  /** Aborted when the process is to stop. */
  get draining(): AbortSignal {
    return this.stopping.signal;
  }

  /** Counts a request until its connection is done with it. While draining only health is still answered. */
  readonly admit = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (this.stopping.signal.aborted) {
      reply.header('connection', 'close');
      if (!request.url.startsWith('/health/')) refuse('unavailable', { reason: 'stopping' });
    }
    this.open += 1;
    reply.raw.once('close', () => {
      this.open -= 1;
      if (this.open === 0) this.whenNone?.();
    });
    done();
  };

  /** Ends streams of events that are read for as long as they come, when the process is to stop: their readers come back. */
  readonly endFollowers = (request: FastifyRequest, _reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void): void => {
    if (request.method === 'GET' && payload instanceof Duplex) this.draining.addEventListener('abort', () => payload.end(), { once: true });
    done(null, payload);
  };

  /** Takes no further requests; resolves when none is open, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.stopping.abort();
    if (this.open === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.whenNone = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }
}
