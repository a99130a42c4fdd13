import { setPriority } from 'node:os';
import { Encoder } from './encoder';

/** What the process is asked: texts in, one unit vector each out, under the same id. */
export interface EncodeRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

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

const encodeAll = async (folder: string, texts: readonly string[]): Promise<readonly Float32Array[]> => {
  const encoder = await loaded(folder);
  const vectors: Float32Array[] = [];
  for (const text of texts) vectors.push(await encoder.encode(text));
  return vectors;
};

const [, , folder] = process.argv;
if (process.send !== undefined && folder !== undefined) {
  setPriority(PRIORITY);
  // Whoever asked may be gone, and nobody hears the answer.
  const reply = (message: EncodeReply): void =>
    void process.send?.(message, undefined, undefined, (error) => error !== null && process.exit(0));
  process.on('message', ({ id, texts }: EncodeRequest) => {
    encodeAll(folder, texts).then(
      (vectors) => reply({ id, vectors }),
      (error: unknown) => reply({ id, error: String(error) }),
    );
  });
  // The parent has ended, or wants no more.
  process.on('disconnect', () => process.exit(0));
}
