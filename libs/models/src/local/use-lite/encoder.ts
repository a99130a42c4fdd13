import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InferenceSession, Tensor, TypedTensor } from 'onnxruntime-web';
import { convert, DIMENSIONS } from './convert';
import { Tokenizer } from './tokenizer';
import { readVocabulary, readWeights } from './weights';

/** Tokens behind this are not seen by the model. */
const MAX_TOKENS = 128;
/** Changes with the conversion, so that an old file is never read by a new program. */
const MODEL_FILE = 'use-lite-int8-1.onnx';

const PROBE = 'The event log is the truth.';
/** First components of the probe's vector, as the original float model gives them. */
const PROBE_VECTOR = [-0.04975, -0.05813, 0.04447, 0.05752, 0.05372, 0.05925, 0.06034, -0.05445];
const PROBE_TOLERANCE = 0.01;

interface Runtime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: {
    new (type: 'int64' | 'float32', data: BigInt64Array | Float32Array, dimensions: readonly number[]): Tensor;
  };
}

/** The English sentence encoder: text to a unit vector. One text a run, so that a vector depends on its text alone. */
export class Encoder {
  private constructor(
    private readonly runtime: Runtime,
    private readonly session: InferenceSession,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** Loads the converted model from `folder`, converting it first where it is missing or does not pass its check. */
  static async load(folder: string): Promise<Encoder> {
    const runtime = loadRuntime();
    const tokenizer = new Tokenizer(await readVocabulary());
    const file = join(folder, MODEL_FILE);
    const cached = await readFile(file).catch(nothingIfAbsent);
    if (cached !== undefined) {
      try {
        return await Encoder.checked(runtime, cached, tokenizer);
      } catch {
        await rm(file); // Damaged: made anew from the weights below, and checked again.
      }
    }
    const model = convert(await readWeights());
    const encoder = await Encoder.checked(runtime, model, tokenizer);
    await store(folder, file, model);
    return encoder;
  }

  async encode(text: string): Promise<Float32Array> {
    const tokens = this.tokenizer.encode(text, MAX_TOKENS);
    const { Tensor } = this.runtime;
    const length = tokens.length;
    const outputs = await this.session.run({
      ids: new Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, length]),
      mask: new Tensor('float32', new Float32Array(length).fill(1), [1, length]),
      positions: new Tensor(
        'float32',
        Float32Array.from(tokens, (_, index) => index),
        [length, 1],
      ),
    });
    const vectors = Object.values(outputs)[0] as TypedTensor<'float32'>;
    return Float32Array.from(vectors.data as Float32Array);
  }

  private static async checked(runtime: Runtime, model: Uint8Array, tokenizer: Tokenizer): Promise<Encoder> {
    const session = await runtime.InferenceSession.create(new Uint8Array(model), {
      graphOptimizationLevel: 'all',
      intraOpNumThreads: 1,
    });
    const encoder = new Encoder(runtime, session, tokenizer);
    const vector = await encoder.encode(PROBE);
    const wrong =
      vector.length !== DIMENSIONS ||
      PROBE_VECTOR.some((value, index) => Math.abs(value - (vector[index] as number)) > PROBE_TOLERANCE);
    if (wrong) throw new Error('the local embedding model does not reproduce its test vector');
    return encoder;
  }
}

/** The native runtime where the operator installed it, the bundled WebAssembly one otherwise. */
const loadRuntime = (): Runtime => {
  try {
    return require('onnxruntime-node') as Runtime;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
  }
  const runtime = require('onnxruntime-web') as Runtime & { env: { wasm: { numThreads?: number } } };
  runtime.env.wasm.numThreads = 1;
  return runtime;
};

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
  } catch (error) {
    await rm(unfinished, { force: true }); // On a full disk it would keep it full.
    throw error;
  }
};
