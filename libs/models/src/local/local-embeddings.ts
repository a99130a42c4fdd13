import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { startThread, Unavailable } from '@app/kernel';
import type { EmbeddingProvider, EmbeddingRequest } from '../provider';
import type { EncodeReply, EncodeRequest } from './use-lite/encoder.thread';

/** How long the thread with its model is kept without work, milliseconds: at rest it would cost 100 MB. */
const IDLE_MS = 30_000;

interface Waiting {
  readonly resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/**
 * Small English embeddings that need no network: Universal Sentence Encoder lite on 8-bit integers, in a thread of its own
 * that starts with the first text and ends when idle. Equal texts give equal vectors.
 */
export class LocalEmbeddings implements EmbeddingProvider {
  private running: Running | undefined;
  private idle: NodeJS.Timeout | undefined;
  private lastId = 0;
  private closed = false;

  /** `folder` holds the converted model between runs. */
  constructor(
    private readonly folder: string,
    private readonly idleMs = IDLE_MS,
  ) {}

  embed({ texts, signal }: EmbeddingRequest): Promise<readonly Float32Array[]> {
    signal.throwIfAborted();
    if (this.closed) throw new Unavailable('local-embedding', 'it is shut down');
    clearTimeout(this.idle);
    const { worker, waiting } = (this.running ??= this.start());
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, texts } satisfies EncodeRequest);
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.release();
  }

  private start(): Running {
    const worker = startThread(join(__dirname, 'use-lite'), 'encoder.thread', __filename, { workerData: { folder: this.folder } });
    const running: Running = { worker, waiting: new Map() };
    worker.on('message', (reply: EncodeReply) => this.settle(running, reply));
    worker.on('error', (error) => this.fail(running, error));
    worker.on('exit', () => this.fail(running, new Error('the thread ended')));
    return running;
  }

  private settle(running: Running, reply: EncodeReply): void {
    const waiting = running.waiting.get(reply.id);
    running.waiting.delete(reply.id);
    if ('vectors' in reply) waiting?.resolve(reply.vectors);
    else waiting?.reject(new Unavailable('local-embedding', reply.error));
    if (running.waiting.size > 0 || this.running !== running) return;
    running.worker.unref();
    this.idle = setTimeout(() => void this.release(), this.idleMs);
    this.idle.unref();
  }

  private fail(running: Running, error: Error): void {
    if (this.running === running) this.running = undefined;
    for (const { reject } of running.waiting.values()) reject(new Unavailable('local-embedding', 'its thread ended', 'none', { cause: error }));
    running.waiting.clear();
  }

  private async release(): Promise<void> {
    clearTimeout(this.idle);
    const running = this.running;
    this.running = undefined;
    await running?.worker.terminate();
  }
}
