import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { convert } from './convert';
import { MAX_TOKENS, modelIn } from './model';
import { Network } from './network';
import { fastest, finest } from './shape';
import { Tokenizer } from './tokenizer';
import { readVocabulary, readWeights } from './weights';

/** Changes with the conversion, so that an old file is never read by a new program. */
const MODEL_FILE = 'use-lite-int8-2.bin';
/** Files of earlier releases, which nothing reads any more. */
const EARLIER_FILES = ['use-lite-int8-1.onnx'];

/** Texts of up to so many tokens, questions and headings, are encoded finer: too few for errors to cancel each other out. */
export const SHORT = 32;

const PROBE = 'The event log is the truth.';
/** First components of the probe's vector, as the original float model gives them. */
const PROBE_VECTOR = [-0.04975, -0.05813, 0.04447, 0.05752, 0.05372, 0.05925, 0.06034, -0.05445];
const PROBE_TOLERANCE = 0.01;

/** The English sentence encoder: text to a unit vector, which depends on that text alone. */
export class Encoder {
  private constructor(
    private readonly short: Network,
    private readonly long: Network,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Loads the converted model from `folder`, converting it first where it is missing or does not pass its check. */
  static async load(folder: string): Promise<Encoder> {
    const tokenizer = new Tokenizer(await readVocabulary());
    const file = join(folder, MODEL_FILE);
    const cached = await readFile(file).catch(nothingIfAbsent);
    if (cached !== undefined) {
      try {
        return Encoder.checked(cached, tokenizer);
      } catch {
        await rm(file, { force: true }); // Damaged: made anew from the weights below, and checked again.
      }
    }
    const model = convert(await readWeights());
    const encoder = Encoder.checked(model, tokenizer);
    await store(folder, file, model);
    return encoder;
  }

  encode(text: string): Float32Array {
    const tokens = this.tokenizer.encode(text, MAX_TOKENS);
    return (tokens.length <= SHORT ? this.short : this.long).run(tokens);
  }

  private static checked(bytes: Uint8Array<ArrayBuffer>, tokenizer: Tokenizer): Encoder {
    const model = modelIn(bytes);
    const [short, long] = [new Network(model, finest()), new Network(model, fastest())];
    const probe = tokenizer.encode(PROBE, MAX_TOKENS);
    for (const vector of [short.run(probe), long.run(probe)])
      if (!PROBE_VECTOR.every((value, index) => Math.abs(value - (vector[index] as number)) <= PROBE_TOLERANCE))
        throw new Error('the local embedding model does not reproduce its test vector');
    return new Encoder(short, long, tokenizer);
  }
}

const nothingIfAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Written beside and renamed, so that a kill leaves no half file. */
const store = async (folder: string, file: string, model: Uint8Array): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const unfinished = `${file}.${process.pid}.part`;
  try {
    await writeFile(unfinished, model);
    await rename(unfinished, file);
    for (const name of EARLIER_FILES) await rm(join(folder, name), { force: true });
  } catch (error) {
    await rm(unfinished, { force: true }); // On a full disk it would keep it full.
    throw error;
  }
};
