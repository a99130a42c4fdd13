import { parentPort, workerData } from 'node:worker_threads';
import type { KeySelector } from '../vault';
import { type EnsureRequest, VaultWriter } from './vault-writer';

/** What the thread is asked; it answers each in order with `{ things }` or `{ error }`. */
export type VaultRequest =
  | { readonly op: 'ensure'; readonly requests: readonly EnsureRequest[] }
  | { readonly op: 'destroy'; readonly selectors: readonly KeySelector[]; readonly at: string }
  | { readonly op: 'close' };

export type VaultReply = { readonly things: readonly (readonly string[])[] } | { readonly error: string };

const { folder, wrappingKey } = workerData as { folder: string; wrappingKey: Uint8Array };
const writer = new VaultWriter(folder, Buffer.from(wrappingKey));

const serve = async (request: VaultRequest): Promise<readonly (readonly string[])[]> => {
  if (request.op === 'destroy') return writer.destroy(request.selectors, request.at);
  if (request.op === 'ensure') writer.ensure(request.requests);
  return [];
};

let last = Promise.resolve();
parentPort?.on('message', (request: VaultRequest) => {
  last = last.then(async () => {
    if (request.op === 'close') {
      writer.close();
      parentPort?.close();
      return;
    }
    const reply = await serve(request).then(
      (things): VaultReply => ({ things }),
      (error: unknown): VaultReply => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    parentPort?.postMessage(reply);
  });
});
