import { reject } from '@app/kernel';
import type { Server, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type OpenAnswer, OpenAnswers } from './open-answers';
import { OpenStreams } from './open-streams';
import { Overload } from './overload';
import { closeSilent } from './slow-readers';

/** The requests that are being answered, so that a stop can wait for them. */
@Injectable()
export class OpenRequests {
  /** Why none is taken; undefined while they are. */
  private closed: 'starting' | 'stopping' | undefined;
  private whenNone: (() => void) | undefined;
  private whenUnfinished: (request: FastifyRequest, response: ServerResponse) => void = () => undefined;

  constructor(
    private readonly open: OpenAnswers,
    private readonly streams: OpenStreams,
    private readonly overload: Overload,
  ) {}

  /** Begins to watch the connections of a server. `whenUnfinished` is told of answers that ended before they were whole. */
  watch(server: Server, whenUnfinished: (request: FastifyRequest, response: ServerResponse) => void): void {
    this.whenUnfinished = whenUnfinished;
    this.overload.watch(server);
    closeSilent(server, this.open);
  }

  /** Takes none but for health until `begin`. */
  hold(): void {
    this.closed = 'starting';
  }

  begin(): void {
    this.closed = undefined;
  }

  /** Counts a request until its connection is done with it. While starting, draining or overloaded only health is answered. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const reason = this.closed ?? this.overload.reasonFor(request.raw.socket);
    if (reason !== undefined) {
      reply.header('connection', 'close');
      if (!request.url.startsWith('/health/')) reject('unavailable', { reason });
    }
    const answer = { request, response: reply.raw };
    const place = this.open.add(answer);
    reply.raw.on('close', () => this.done(place, answer));
  }

  /** Takes no further requests; resolves when none is open, or after `ms`. */
  async drain(ms: number): Promise<void> {
    this.closed = 'stopping';
    this.streams.endFollowed();
    if (this.open.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.whenNone = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  private done(place: number, { request, response }: OpenAnswer): void {
    if (!response.writableFinished) this.whenUnfinished(request, response);
    this.open.remove(place);
    if (this.open.size === 0) this.whenNone?.();
  }
}
