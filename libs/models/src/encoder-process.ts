import { type ChildProcess, fork } from 'node:child_process';
import { Unavailable } from '@app/kernel';
import type { EncodeReply, EncodeRequest } from './encoder-child';

/** How long the process with the model is kept without work, milliseconds: it takes 130 MB and more. */
const IDLE_MS = 30_000;

interface Waiting {
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly waiting: Map<number, Waiting>;
}

/**
 * An embedding model in a process of its own, which starts with the first text and ends when idle, since only the end of a process
 * gives all its memory back. Its script calls `serveEncoder`.
 */
export class EncoderProcess {
  private running: Running | undefined;
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;
  private closed = false;

  /** `name`: the model's, in errors. `idleMs`: how long its process is kept without work. */
  constructor(
    private readonly name: string,
    private readonly script: string,
    private readonly parameters: readonly string[],
    private readonly idleMs = IDLE_MS,
  ) {}

  /** One vector for each text, in order. Rejects with `Unavailable`, which says why, or the signal's reason. */
  async encode(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    signal.throwIfAborted();
    if (this.closed) throw new Unavailable(this.name, 'it is shut down');
    clearTimeout(this.idle);
    const running = (this.running ??= this.start());
    this.lastId += 1;
    const id = this.lastId;
    const leave = (): void => this.leave(running, id, signal.reason as Error);
    signal.addEventListener('abort', leave);
    try {
      return await new Promise<readonly Float32Array[]>((resolve, reject) => {
        running.waiting.set(id, { resolve, reject });
        this.send(running, { id, texts });
      });
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.release();
  }

  private start(): Running {
    const child = fork(this.script, this.parameters, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const running: Running = { child, waiting: new Map() };
    child.on('message', (reply) => this.settle(running, reply as EncodeReply));
    child.on('error', () => this.fail(running));
    child.on('exit', () => this.fail(running));
    return running;
  }

  private send(running: Running, request: EncodeRequest): void {
    running.child.ref();
    running.child.channel?.ref();
    running.child.send(request, (error) => {
      if (error !== null) this.fail(running);
    });
  }

  private settle(running: Running, reply: EncodeReply): void {
    const waiting = this.taken(running, reply.id);
    if ('vectors' in reply) waiting?.resolve(reply.vectors);
    else waiting?.reject(new Unavailable(this.name, reply.error));
  }

  /** Nobody waits for this any more: what of it is not encoded yet is left. */
  private leave(running: Running, id: number, reason: Error): void {
    this.send(running, { cancel: id });
    this.taken(running, id)?.reject(reason);
  }

  private taken(running: Running, id: number): Waiting | undefined {
    const waiting = running.waiting.get(id);
    running.waiting.delete(id);
    this.idleAfter(running);
    return waiting;
  }

  private idleAfter(running: Running): void {
    if (running.waiting.size > 0) return;
    // A process that nobody waits for keeps none alive.
    running.child.unref();
    running.child.channel?.unref();
    if (this.running !== running) return;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.release(), this.idleMs).unref();
  }

  private fail(running: Running): void {
    if (this.running === running) this.running = undefined;
    for (const { reject } of running.waiting.values()) reject(new Unavailable(this.name, 'its process ended'));
    running.waiting.clear();
  }

  private async release(): Promise<void> {
    clearTimeout(this.idle);
    const running = this.running;
    this.running = undefined;
    if (running === undefined || running.child.exitCode !== null) return;
    const ended = new Promise((resolve) => running.child.once('exit', resolve));
    running.child.ref();
    running.child.disconnect();
    await ended;
  }
}
