import { parentPort, workerData } from 'node:worker_threads';
import type { KeyRecord, KeySelector } from '../vault';
import { type EnsureRequest, VaultWriter } from './vault-writer';

/** What the thread is asked; it answers each in order with `{ answer }`, as the method of the writer, or `{ error }`. */
export type VaultRequest =
  | { readonly op: 'ensure'; readonly requests: readonly EnsureRequest[] }
  | { readonly op: 'destroy'; readonly selectors: readonly KeySelector[]; readonly at: string }
  | { readonly op: 'merge'; readonly records: readonly KeyRecord[] }
  | { readonly op: 'close' };

export type VaultReply = { readonly answer: unknown } | { readonly error: string };

const { folder, wrappingKey } = workerData as { folder: string; wrappingKey: Uint8Array };
const writer = new VaultWriter(folder, Buffer.from(wrappingKey));

const serve = async (request: VaultRequest): Promise<unknown> => {
  if (request.op === 'destroy') return writer.destroy(request.selectors, request.at);
  if (request.op === 'merge') return writer.merge(request.records);
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
      (answer): VaultReply => ({ answer }),
      (error: unknown): VaultReply => ({ error: error instanceof Error ? error.message : String(error) }),
    );
    parentPort?.postMessage(reply);
  });
});
