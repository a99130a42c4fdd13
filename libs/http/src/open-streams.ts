import { Duplex, type Readable, type Writable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { admittedStill } from './guard';

/** How often a caller of an open stream is asked for anew: a revoked key reads no longer than this. */
const CHECK_MS = 2_000;

/** Answers that are being streamed. */
export class OpenStreams {
  private readonly followed = new Set<Duplex>();

  /** Watches a stream: when its caller would no longer be admitted, `end` may say why; one that is still open at the next look is broken off. */
  add(stream: Readable | Writable, request: FastifyRequest, end?: (reason: unknown) => void): void {
    let told = end === undefined;
    const rejected = (reason: unknown): void => {
      if (told) stream.destroy();
      else end?.(reason);
      told = true;
    };
    const check = setInterval(() => void admittedStill(request.server.edge, request).catch(rejected), CHECK_MS).unref();
    if (request.method === 'GET' && stream instanceof Duplex) this.followed.add(stream);
    stream.once('close', () => {
      clearInterval(check);
      this.followed.delete(stream as Duplex);
    });
  }

  /** Ends the streams that are read for as long as something comes; their readers come back to another process. */
  endFollowed(): void {
    for (const stream of this.followed) stream.end();
  }
}
