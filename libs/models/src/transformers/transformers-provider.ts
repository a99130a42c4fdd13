import { existsSync, statSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { canonicalJson, InvalidConfig, isUnavailable } from '@app/kernel';
import type { ModelDescription, TransformersDescription } from '../catalogue';
import { EncoderProcess } from '../encoder-process';
import type { EmbeddingRequest, Embeddings, Provider } from '../provider';
import { UpstreamFailure } from '../upstream/failure';
import { unit, withDimensions } from '../upstream/vectors';
import type { EncoderSource } from './encoder.child';
import { onnxExport, readSentenceTransformer } from './sentence-transformer';

const PACKAGE = '@huggingface/transformers';
/** How the hub names a model. */
const HUB_ID = /^(?!.*\.\.)[\w.-]+\/[\w.-]+$/;
const PROBE = 'The event log is the truth.';

/** An embedding model in ONNX form, in a process of its own. Its vectors may differ in their last digits by what else is in a batch. */
export class TransformersProvider implements Provider {
  private readonly encoder: EncoderProcess;

  private constructor(
    private readonly model: ModelDescription,
    private readonly source: EncoderSource,
  ) {
    const script = join(__dirname, `encoder.child${extname(__filename)}`);
    this.encoder = new EncoderProcess(model.key, script, [JSON.stringify(source)]);
  }

  /**
   * Checks what can be known without running the model. `downloads`: the folder of what comes from a hub; `packages`: where the
   * package is looked for, from there upwards. Throws `InvalidConfig`.
   */
  static open(
    model: ModelDescription,
    { hub }: TransformersDescription,
    downloads: string,
    packages: string,
  ): TransformersProvider {
    const packageFile = packageFrom(packages, model);
    const folder = resolve(model.modelId);
    if (existsSync(folder) && statSync(folder).isDirectory()) {
      checkFolder(model, folder);
      return new TransformersProvider(model, { packageFile, folder, model: '' });
    }
    if (hub === undefined)
      throw invalid(
        model,
        `there is no folder ${folder}`,
        'Name the folder in `modelId`, or a `hub` in the provider to download it.',
      );
    if (!HUB_ID.test(model.modelId))
      throw invalid(
        model,
        `${model.modelId} is neither a folder nor the id of a model`,
        'Name one such as sentence-transformers/all-MiniLM-L6-v2.',
      );
    return new TransformersProvider(model, { packageFile, folder: resolve(downloads), model: model.modelId, hub });
  }

  /** Whether the other one runs the same: its process is not started yet, and need not be. */
  runs({ source }: TransformersProvider): boolean {
    return canonicalJson(this.source) === canonicalJson(source);
  }

  /** Runs the model once. Throws `InvalidConfig` where it cannot be loaded, or has other dimensions than described. */
  async verify(): Promise<void> {
    const [vector] = await this.encoder.encode([PROBE], new AbortController().signal).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      throw invalid(
        this.model,
        error.reason,
        'See whether its files are whole, and those of a sentence-transformer in ONNX form.',
      );
    });
    checkDimensions(this.model, vector?.length);
  }

  async embed({ model, texts, purpose, signal }: EmbeddingRequest): Promise<Embeddings> {
    const prefix = { query: model.queryPrefix, passage: model.passagePrefix, none: '' }[purpose ?? 'none'];
    const vectors = await this.encoder.encode(prefix === '' ? texts : texts.map((text) => prefix + text), signal);
    return { model, vectors: withDimensions(purpose === undefined ? vectors : vectors.map(unit), model) };
  }

  complete(): Promise<never> {
    return Promise.reject(onlyEmbeds());
  }

  // What asks for a stream hears of the failure when it reads: without a piece, since there is none.
  // eslint-disable-next-line require-yield
  async *stream(): AsyncGenerator<never> {
    throw onlyEmbeds();
  }

  rerank(): Promise<never> {
    return Promise.reject(onlyEmbeds());
  }

  mayAnswer(model: ModelDescription): readonly ModelDescription[] {
    return [model];
  }

  routes(): readonly [] {
    return [];
  }

  async close(): Promise<void> {
    await this.encoder.close();
  }
}

/** The catalogue rejects models of other kinds. */
const onlyEmbeds = (): UpstreamFailure => new UpstreamFailure('rejected');

const packageFrom = (packages: string, model: ModelDescription): string => {
  try {
    return require.resolve(PACKAGE, { paths: [packages] });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw invalid(
      model,
      `the package ${PACKAGE} is not installed`,
      `Run npm install --no-save --save-prod ${PACKAGE}@4.3.1 in the platform's folder.`,
    );
  }
};

const checkFolder = (model: ModelDescription, folder: string): void => {
  const missing = ['config.json', 'tokenizer.json'].find((file) => !existsSync(join(folder, file)));
  if (missing !== undefined)
    throw invalid(model, `${folder} has no ${missing}`, 'Name the folder of a sentence-transformer.');
  if (onnxExport(folder) === undefined)
    throw invalid(model, `${folder} has no onnx/model.onnx`, 'Export the model to ONNX, or take its ONNX form.');
  try {
    checkDimensions(model, readSentenceTransformer(folder).dimensions);
  } catch (error) {
    if (error instanceof InvalidConfig) throw error;
    throw invalid(model, `in ${folder}, ${(error as Error).message}`, 'Take another model.');
  }
};

const checkDimensions = (model: ModelDescription, dimensions: number | undefined): void => {
  if (model.dimensions !== undefined && dimensions !== undefined && model.dimensions !== dimensions)
    throw invalid(
      model,
      `its vectors have ${dimensions} dimensions, not ${model.dimensions}`,
      `Write "dimensions": ${dimensions}, or name the model that was meant.`,
    );
};

const invalid = ({ key }: ModelDescription, reason: string, remedy: string): InvalidConfig =>
  new InvalidConfig(`The model ${key} in MODELS_FILE cannot run: ${reason}. ${remedy}`);
