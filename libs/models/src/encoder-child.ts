import { setPriority } from 'node:os';
import { EncodeQueue } from './encode-queue';

/** What the process is asked: texts in, one vector each out, under the same id; or to leave off, as nobody waits any more. */
export type EncodeRequest = { readonly id: number; readonly texts: readonly string[] } | { readonly cancel: number };

export type EncodeReply =
  { readonly id: number; readonly vectors: readonly Float32Array[] } | { readonly id: number; readonly error: string };

/** A model that is loaded: one vector for each text. */
export interface Encoder {
  encode(texts: readonly string[]): Promise<readonly Float32Array[]>;
}

/** Behind everything that somebody waits for. */
const PRIORITY = 5;

/**
 * Makes this process the other end of an `EncoderProcess`: it loads the model with the first text, encodes up to `batchSize` texts of
 * a caller at once, and ends with its parent.
 */
export const serveEncoder = (load: () => Promise<Encoder>, batchSize: number): void => {
  setPriority(PRIORITY);
  const loaded = once(load);
  // Whoever asked may be gone, and nobody hears the answer.
  const reply = (message: EncodeReply): void =>
    void process.send?.(message, undefined, undefined, (error) => error !== null && process.exit(0));
  const queue = new EncodeQueue(async (texts) => (await loaded()).encode(texts), batchSize);
  process.on('message', (request: EncodeRequest) => {
    if ('cancel' in request) return queue.cancel(request.cancel);
    const { id, texts } = request;
    return void queue.add(id, texts).then(
      (vectors) => reply({ id, vectors }),
      (error: unknown) => reply({ id, error: String(error) }),
    );
  });
  // The parent has ended, or wants no more.
  process.on('disconnect', () => process.exit(0));
};

/** Loaded once; where that failed, as on a full disk, whoever asks next has it tried again. */
const once = (load: () => Promise<Encoder>): (() => Promise<Encoder>) => {
  let loading: Promise<Encoder> | undefined;
  return async () => {
    const mine = (loading ??= load());
    try {
      return await mine;
    } catch (error) {
      if (loading === mine) loading = undefined;
      throw error;
    }
  };
};
