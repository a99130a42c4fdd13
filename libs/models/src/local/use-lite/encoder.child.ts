import { setPriority } from 'node:os';
import { EncodeQueue } from './encode-queue';
import { Encoder } from './encoder';

/** What the process is asked: texts in, one unit vector each out, under the same id; or to leave off, as nobody waits any more. */
export type EncodeRequest = { readonly id: number; readonly texts: readonly string[] } | { readonly cancel: number };

export type EncodeReply =
  { readonly id: number; readonly vectors: readonly Float32Array[] } | { readonly id: number; readonly error: string };

/** Behind everything that somebody waits for. */
const PRIORITY = 5;

let loading: Promise<Encoder> | undefined;

/** Loaded once; where that failed, as on a full disk, whoever asks next has it tried again. */
const loaded = async (folder: string): Promise<Encoder> => {
  const mine = (loading ??= Encoder.load(folder));
  try {
    return await mine;
  } catch (error) {
    if (loading === mine) loading = undefined;
    throw error;
  }
};

const [, , folder] = process.argv;
if (process.send !== undefined && folder !== undefined) {
  setPriority(PRIORITY);
  // Whoever asked may be gone, and nobody hears the answer.
  const reply = (message: EncodeReply): void =>
    void process.send?.(message, undefined, undefined, (error) => error !== null && process.exit(0));
  const queue = new EncodeQueue(async (text) => (await loaded(folder)).encode(text));
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
}
