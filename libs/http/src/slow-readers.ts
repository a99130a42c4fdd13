import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { reject } from '@app/kernel';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type OpenAnswer, OpenAnswers } from './open-answers';
import { endBody } from './slow-bodies';

/** Close a connection that reads nothing of its answer, or reject a body of which nothing comes, after this long. It takes at most a quarter longer. */
const SILENT_MS = 60_000;
/** Bytes of unread answers per caller. A caller with more is served again after reading them. */
export const MOST_UNREAD = 4 * 1024 ** 2;
/** Check the answers in progress this often, milliseconds. */
const LOOK_MS = 250;
const TIMEOUT_MS = 30_000;

/** Checks per period of silence. The first may be missed: the request may have begun during it. */
const PARTS = 4;

interface Silence {
  readonly heardAt: number;
  readonly parts: number;
}

/** Closes connections that go silent in the middle of a request or an answer. Idle connections may wait. */
export const closeSilent = (server: Server, open: Iterable<OpenAnswer>, silentMs = SILENT_MS): void => {
  const partMs = silentMs / PARTS;
  const silences = new WeakMap<Socket, Silence>();
  server.setTimeout(partMs, (socket: Socket) => {
    const request = [...open].find(({ response }) => response.socket === socket)?.request;
    // Node has another limit for idle connections.
    if (request === undefined && socket.timeout !== partMs) return void socket.destroy();
    const before = silences.get(socket);
    const isSameSilence = before !== undefined && performance.now() - before.heardAt < 1.5 * partMs;
    const parts = isSameSilence ? before.parts + 1 : 1;
    const isLate = parts >= PARTS && (request === undefined || isDue(socket, request));
    // Who sends nothing hears why, if anybody reads their body.
    if (isLate && (request === undefined || !endBody(request.raw))) return void socket.destroy();
    silences.set(socket, { heardAt: performance.now(), parts });
    socket.setTimeout(partMs);
  });
};

/** True while we wait for the other end to read or to send. */
const isDue = (socket: Socket, { raw }: FastifyRequest): boolean =>
  socket.writableLength > 0 || (!raw.complete && raw.readableLength === 0);

/** Bounds what callers leave unread, since it is held in memory. */
@Injectable()
export class UnreadAnswers implements OnModuleDestroy {
  /** Callers that leave more than `MOST_UNREAD`. */
  private over: ReadonlySet<string> = new Set();
  private readonly timer = setInterval(() => this.look(), LOOK_MS).unref();

  constructor(private readonly open: OpenAnswers) {}

  isOver(actor: string): boolean {
    return this.over.has(actor);
  }

  /** Resolves when a caller has read. Rejects with `unavailable` if that takes too long. */
  async drained(actor: string): Promise<void> {
    for (let waited = 0; this.isOver(actor); waited += LOOK_MS) {
      if (waited >= TIMEOUT_MS)
        reject('unavailable', { reason: 'you have too many unread answers', retryAfterSeconds: 1 });
      await pause(LOOK_MS);
    }
  }

  /** Also called when a long answer was sent. */
  look(): void {
    const unread = new Map<string, number>();
    for (const { request, response } of this.open) {
      const { caller } = request;
      const { writableLength } = response;
      if (caller !== null && writableLength > 0)
        unread.set(caller.actor, (unread.get(caller.actor) ?? 0) + writableLength);
    }
    this.over = new Set([...unread].filter(([, bytes]) => bytes > MOST_UNREAD).map(([actor]) => actor));
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}
