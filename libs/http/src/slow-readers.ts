import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { reject } from '@app/kernel';
import type { FastifyRequest } from 'fastify';

/** A connection that takes nothing of its answer for so long, or sends nothing of its body, is closed; a quarter later at the latest. */
const SILENT_MS = 60_000;
/** Bytes of answers that may wait for one caller to read them; whoever leaves more unread is served further when they have read. */
export const MOST_UNREAD = 4 * 1024 ** 2;
/** How often the answers under way are looked at, milliseconds, and how long a request may wait for its caller to read. */
const LOOK_MS = 250;
const TIMEOUT_MS = 30_000;

/** The requests that are being answered, by their answers. */
export type OpenAnswers = ReadonlyMap<ServerResponse, FastifyRequest>;

/** Silence is heard of in parts: the first may pass unheard, since what is under way was begun in it. */
const PARTS = 4;

interface Silence {
  readonly heardAt: number;
  readonly parts: number;
}

/** Closes connections whose other end has gone silent in the middle of a request or an answer. Those on which nothing is due may wait. */
export const closeSilent = (server: Server, open: OpenAnswers, silentMs = SILENT_MS): void => {
  const partMs = silentMs / PARTS;
  const silences = new WeakMap<Socket, Silence>();
  server.setTimeout(partMs, (socket: Socket) => {
    const request = [...open].find(([response]) => response.socket === socket)?.[1];
    // Another limit, which Node gives to connections that wait for a further request.
    if (request === undefined && socket.timeout !== partMs) return void socket.destroy();
    const before = silences.get(socket);
    const isSameSilence = before !== undefined && performance.now() - before.heardAt < 1.5 * partMs;
    const parts = isSameSilence ? before.parts + 1 : 1;
    if (parts >= PARTS && (request === undefined || isDue(socket, request))) return void socket.destroy();
    silences.set(socket, { heardAt: performance.now(), parts });
    socket.setTimeout(partMs);
  });
};

/** True where the other end is to read, or to send what we wait for. */
const isDue = (socket: Socket, { raw }: FastifyRequest): boolean =>
  socket.writableLength > 0 || (!raw.complete && raw.readableLength === 0);

/** How much of their answers callers leave unread: it is kept for them, so it is bounded. */
export class UnreadAnswers {
  /** Callers that leave more than `MOST_UNREAD`. */
  private over: ReadonlySet<string> = new Set();
  private readonly timer = setInterval(() => this.look(), LOOK_MS).unref();

  constructor(private readonly open: OpenAnswers) {}

  isOver(actor: string): boolean {
    return this.over.has(actor);
  }

  /** Resolves when a caller has read. Rejects `unavailable` when that takes long. */
  async room(actor: string): Promise<void> {
    for (let waited = 0; this.isOver(actor); waited += LOOK_MS) {
      if (waited >= TIMEOUT_MS)
        reject('unavailable', { reason: 'you have too many unread answers', retryAfterSeconds: 1 });
      await pause(LOOK_MS);
    }
  }

  /** Also called when a long answer was sent. */
  look(): void {
    const unread = new Map<string, number>();
    for (const [response, { caller }] of this.open) {
      const { writableLength } = response;
      if (caller !== null && writableLength > 0)
        unread.set(caller.actor, (unread.get(caller.actor) ?? 0) + writableLength);
    }
    this.over = new Set([...unread].filter(([, bytes]) => bytes > MOST_UNREAD).map(([actor]) => actor));
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
