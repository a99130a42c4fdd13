import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';

/** How often the main loop is looked at, milliseconds. */
const LOOK_MS = 1_000;
/** Where it stood still for longer, those who wait are asked to come again, milliseconds. */
export const USUAL_LATE_MS = 4_900;
/** Injection token of another value, for tests: they share the main loop with their clients. */
export const LATE_MS = Symbol('LateMs');
/** Open files that the stores and the connections between processes may need. */
const OWN_FILES = 200;
/** Of the other files: a request to the gateway takes its own connection and one to a provider. */
const FILES_PER_CALLER = 2;
const LEAST_CALLERS = 16;
/** How long a connection that cannot be served may wait to be told so. */
const SURPLUS_MS = 1_000;

/**
 * Detects that this process has more work than it can do, so that callers get an answer at once instead of late or
 * never.
 */
@Injectable()
export class Overload implements OnModuleDestroy {
  private connections = 0;
  /** Connections that came when there were enough: they are told so when they ask, and closed soon if they do not. */
  private readonly surplus = new WeakSet<Socket>();
  private lookedAt = performance.now();
  private late = false;
  private readonly mostConnections = Math.max(
    LEAST_CALLERS,
    Math.floor((mostOpenFiles() - OWN_FILES) / FILES_PER_CALLER),
  );
  private timer: NodeJS.Timeout | undefined;

  constructor(@Inject(LATE_MS) private readonly lateMs: number) {}

  /** Begins to look at the main loop, and at the connections of a server. */
  watch(server: Server): void {
    this.lookedAt = performance.now();
    this.timer = setInterval(() => this.look(), LOOK_MS).unref();
    server.on('connection', (socket) => {
      this.connections += 1;
      if (this.connections > this.mostConnections) this.shed(socket);
      socket.once('close', () => (this.connections -= 1));
    });
  }

  /** Why a request of a connection is not served, for the log; undefined where it is. */
  reasonFor(socket: Socket): string | undefined {
    if (this.surplus.has(socket)) return 'too many connections';
    return this.late ? 'the process is overloaded' : undefined;
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private shed(socket: Socket): void {
    this.surplus.add(socket);
    setTimeout(() => socket.destroy(), SURPLUS_MS).unref();
  }

  /** Runs before what has piled up is read, and says so of all that until it runs again. */
  private look(): void {
    const now = performance.now();
    this.late = now - this.lookedAt > this.lateMs;
    this.lookedAt = now;
  }
}

let openFiles: number | undefined;

/** What the system allows (`ulimit -n`); no limit where it does not say. Asked once: the report stops every thread for a moment. */
const mostOpenFiles = (): number => (openFiles ??= reportedOpenFiles());

const reportedOpenFiles = (): number => {
  // Of Node 20.13 and later, and not in the types of Node 20: without it the report looks up every peer's name.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
};
