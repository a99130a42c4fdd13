import { parentPort, workerData } from 'node:worker_threads';
import { Encoder } from './encoder';

/** What the thread is asked: texts in, one unit vector each out, under the same id. */
export interface EncodeRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export type EncodeReply = { readonly id: number; readonly vectors: readonly Float32Array[] } | { readonly id: number; readonly error: string };

const { folder } = workerData as { folder: string };
const encoder = Encoder.load(folder);

const encodeAll = async (texts: readonly string[]): Promise<Float32Array[]> => {
  const loaded = await encoder;
  const vectors: Float32Array[] = [];
  for (const text of texts) vectors.push(await loaded.encode(text));
  return vectors;
};

parentPort?.on('message', ({ id, texts }: EncodeRequest) => {
  encodeAll(texts).then(
    (vectors) => parentPort?.postMessage({ id, vectors } satisfies EncodeReply),
    (error: unknown) => parentPort?.postMessage({ id, error: String(error) } satisfies EncodeReply),
  );
});
