import type { IncomingMessage } from 'node:http';
import { DomainError } from '@app/kernel';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { OpenAnswers } from './open-answers';

/** While we wait for a body, at least so many bytes must come in each minute: about 1 KiB/s. */
const WINDOW_MS = 60_000;
const LEAST_BYTES = 64 * 1024;
/** Look at the bodies that come this often, milliseconds. */
const LOOK_MS = 1_000;

/** Of the minute that runs. */
interface Pace {
  /** How long we waited for the sender: not while nobody reads what came. */
  waitedMs: number;
  /** What had come on the connection before. */
  readonly bytes: number;
}

/** Rejects bodies that come too slowly with 408. Each holds a connection, and what came of it. */
@Injectable()
export class SlowBodies implements OnModuleDestroy {
  private readonly paces = new WeakMap<IncomingMessage, Pace>();
  private lookedAt = performance.now();
  private readonly timer = setInterval(() => {
    const now = performance.now();
    // A process that stood still heard nobody meanwhile.
    this.look(Math.min(now - this.lookedAt, 2 * LOOK_MS));
    this.lookedAt = now;
  }, LOOK_MS).unref();

  constructor(private readonly open: OpenAnswers) {}

  /** Looks at all bodies, so many milliseconds after it did before. */
  look(passedMs: number): void {
    for (const { request, response } of this.open) {
      const { raw } = request;
      if (raw.complete || response.writableEnded || raw.readableLength > 0) continue;
      const pace = this.paces.get(raw);
      if (pace !== undefined) {
        pace.waitedMs += passedMs;
        if (pace.waitedMs < WINDOW_MS) continue;
        if (raw.socket.bytesRead - pace.bytes < LEAST_BYTES) endBody(raw);
      }
      this.paces.set(raw, { waitedMs: 0, bytes: raw.socket.bytesRead });
    }
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}

const ended = new WeakSet<IncomingMessage>();

/** Has whoever reads a body reject with 408, as if reading had failed. False where nobody reads it, or it was told before. */
export const endBody = (raw: IncomingMessage): boolean => {
  if (raw.complete || ended.has(raw) || raw.listenerCount('error') === 0) return false;
  ended.add(raw);
  raw.emit('error', new DomainError('request_timeout'));
  return true;
};
