import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Encoder, serveEncoder } from '../encoder-child';
import { normalized, pooled, type Tensor } from './pooling';
import { onnxExport, poolingFile, readSentenceTransformer, type SentenceTransformer } from './sentence-transformer';

/** What this process runs, as JSON in its first argument. */
export interface EncoderSource {
  /** The file that the package is loaded from. */
  readonly packageFile: string;
  /** Where the model's files are, or come to be: `folder/model`. */
  readonly folder: string;
  readonly model: string;
  /** Where they are downloaded from, once; absent: nothing is. */
  readonly hub?: string;
}

/** Texts of one caller that are encoded at once, at most: */
const BATCH = 16;
/** and their tokens, padding included. */
const BATCH_TOKENS = 8_192;
/** No text has longer ones on average: what is behind is not read. */
const CHARACTERS_OF_A_TOKEN = 64;
/** How long a small file may take, milliseconds. */
const DOWNLOAD_MS = 60_000;

/** What is used of `@huggingface/transformers`. */
interface Transformers {
  readonly env: {
    allowRemoteModels: boolean;
    localModelPath: string;
    cacheDir: string;
    remoteHost: string;
    logLevel: number;
    readonly fetch: typeof fetch;
  };
  readonly LogLevel: { readonly ERROR: number };
  readonly AutoTokenizer: { from_pretrained(model: string, options: object): Promise<Tokenizer> };
  readonly AutoModel: { from_pretrained(model: string, options: object): Promise<Model> };
}
type Model = (inputs: Inputs) => Promise<Readonly<Record<string, Tensor>>>;
type Inputs = Readonly<Record<string, Tensor>> & { readonly input_ids: Tensor; readonly attention_mask: Tensor };
interface Tokenizer {
  (texts: readonly string[], options: object): Inputs;
  encode(text: string): readonly number[];
}

/** A sentence-transformer that is loaded. */
class SentenceEncoder implements Encoder {
  private constructor(
    private readonly tokenizer: Tokenizer,
    private readonly model: Model,
    private readonly use: SentenceTransformer,
  ) {}

  static async load({ packageFile, folder, model, hub }: EncoderSource): Promise<SentenceEncoder> {
    const { env, LogLevel, AutoTokenizer, AutoModel } = require(packageFile) as Transformers;
    // Without a hub nothing is asked for over the network, whatever the folder lacks.
    env.allowRemoteModels = hub !== undefined;
    env.localModelPath = folder;
    env.cacheDir = folder;
    env.logLevel = LogLevel.ERROR;
    const files = join(folder, model);
    if (hub !== undefined) {
      env.remoteHost = hub;
      await downloadUse(env.fetch, hub, model, files);
    }
    const use = readSentenceTransformer(files);
    const options = { local_files_only: hub === undefined };
    const where = hub === undefined ? files : model;
    return new SentenceEncoder(
      await AutoTokenizer.from_pretrained(where, options),
      await AutoModel.from_pretrained(where, { ...options, dtype: 'fp32', ...onnxExport(files) }),
      use,
    );
  }

  async encode(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const run of this.runs(texts)) vectors.push(...(await this.vectorsOf(run)));
    return vectors;
  }

  private async vectorsOf(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { maxTokens, pooling, normalize } = this.use;
    const inputs = this.tokenizer(texts, { padding: true, truncation: true, max_length: maxTokens });
    this.endCut(texts, inputs.input_ids);
    const outputs = await this.model(inputs);
    const states = outputs['sentence_embedding'] ?? outputs['last_hidden_state'] ?? outputs['token_embeddings'];
    if (states === undefined)
      throw new Error('the model gives none of sentence_embedding, last_hidden_state and token_embeddings');
    const vectors = pooled(states, inputs.attention_mask, pooling);
    return normalize ? vectors.map(normalized) : vectors;
  }

  /** The package cuts off the token that ends a text, such as `[SEP]`, which the model was trained to see. */
  private endCut(texts: readonly string[], { data, dims }: Tensor): void {
    const { maxTokens } = this.use;
    const end = this.tokenizer.encode('').at(-1);
    if (end === undefined || dims[1] !== maxTokens) return;
    texts.forEach((text, row) => {
      const ids = this.tokenizer.encode(text);
      if (ids.length > maxTokens && ids.at(-1) === end)
        (data as BigInt64Array)[(row + 1) * maxTokens - 1] = BigInt(end);
    });
  }

  /** The texts, cut to what can be read of them, in groups that the memory of a run has room for. */
  private runs(texts: readonly string[]): readonly (readonly string[])[] {
    const { maxTokens } = this.use;
    const runs: string[][] = [];
    let run: string[] = [];
    let longest = 0;
    for (const text of texts) {
      const cut = text.slice(0, maxTokens * CHARACTERS_OF_A_TOKEN);
      const length = Math.min(this.tokenizer.encode(cut).length, maxTokens);
      if (run.length === 0 || (run.length + 1) * Math.max(longest, length) > BATCH_TOKENS) {
        runs.push((run = []));
        longest = 0;
      }
      run.push(cut);
      longest = Math.max(longest, length);
    }
    return runs;
  }
}

/** Fetches, once, what says how the model is used: the package itself asks only for what it runs. */
const downloadUse = async (get: typeof fetch, hub: string, model: string, folder: string): Promise<void> => {
  // The last of them: where it is, all are.
  if (existsSync(join(folder, 'config.json'))) return;
  const download = async (file: string): Promise<void> => {
    const url = `${hub.replace(/\/+$/, '')}/${model}/resolve/main/${file}`;
    const response = await get(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
    if (response.status === 404 && file !== 'config.json') return;
    if (!response.ok) throw new Error(`${url} answers ${response.status}`);
    const target = join(folder, file);
    await mkdir(dirname(target), { recursive: true });
    const unfinished = `${target}.${process.pid}.part`;
    await writeFile(unfinished, Buffer.from(await response.arrayBuffer()));
    await rename(unfinished, target);
  };
  for (const file of ['modules.json', 'sentence_bert_config.json', 'tokenizer_config.json']) await download(file);
  await download(poolingFile(folder));
  await download('config.json');
};

const [, , source] = process.argv;
if (process.send !== undefined && source !== undefined)
  serveEncoder(() => SentenceEncoder.load(JSON.parse(source) as EncoderSource), BATCH);
