import type { Worker } from 'node:worker_threads';
import { startThread, Unavailable } from '@app/kernel';
import type { VaultReply, VaultRequest } from './vault.thread';

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** The writer's thread, started at the first write; a thread that died is started anew by the next one. */
export class VaultThread {
  private worker: Worker | undefined;
  private readonly waiting: Waiting[] = [];

  constructor(private readonly data: { readonly folder: string; readonly wrappingKey: Buffer }) {}

  /** Sends one request; replies come in order. Throws `Unavailable`. */
  ask<Answer>(request: VaultRequest): Promise<Answer> {
    this.worker ??= this.start();
    const { worker } = this;
    return new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ resolve: (answer) => resolve(answer as Answer), reject });
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    this.worker = undefined;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ op: 'close' } satisfies VaultRequest);
    await ended;
  }

  private start(): Worker {
    const worker = startThread(__dirname, 'vault.thread', __filename, { workerData: this.data });
    worker.on('message', (reply: VaultReply) => this.settle(reply));
    worker.on('error', (error) => this.fail(error.message));
    worker.on('exit', () => this.fail('its thread ended'));
    return worker;
  }

  private settle(reply: VaultReply): void {
    const first = this.waiting.shift();
    if ('error' in reply) first?.reject(new Unavailable('vault', reply.error, 'unknown'));
    else first?.resolve(reply.answer);
  }

  private fail(reason: string): void {
    this.worker = undefined;
    for (const { reject } of this.waiting.splice(0)) reject(new Unavailable('vault', reason, 'unknown'));
  }
}
