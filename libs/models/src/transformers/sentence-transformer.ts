import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The exports whose vectors are float32, best first: `dtype` as the package calls it. */
const EXPORTS = [
  ['model', 'fp32'],
  ['model_quantized', 'q8'],
  ['model_int8', 'int8'],
  ['model_uint8', 'uint8'],
] as const;

/** More tokens of a text are not read, whatever a model takes: the memory of a run grows with their square. */
const MOST_TOKENS = 2_048;
const USUAL_TOKENS = 512;

export type Pooling = 'mean' | 'cls' | 'max';

/** How a sentence-transformer makes a vector of a text, as its own files say. */
export interface SentenceTransformer {
  readonly pooling: Pooling;
  readonly normalize: boolean;
  /** Tokens behind these are not seen. */
  readonly maxTokens: number;
  /** Numbers of a vector; undefined where no file says so. */
  readonly dimensions: number | undefined;
}

/** Which of the ONNX files of a folder is run: `subfolder` and `dtype` as `from_pretrained` takes them; undefined where there is none. */
export const onnxExport = (folder: string): { readonly subfolder: string; readonly dtype: string } | undefined =>
  EXPORTS.flatMap(([file, dtype]) => ['onnx', ''].map((subfolder) => ({ file, dtype, subfolder }))).find(
    ({ file, subfolder }) => existsSync(join(folder, subfolder, `${file}.onnx`)),
  );

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads what `modules.json`, the folder of the pooling and their kin say. Without them it is the mean, not normalised, as the library
 * sentence-transformers has it. Throws an error whose message says what cannot be done or read.
 */
export const readSentenceTransformer = (folder: string): SentenceTransformer => {
  const config = fieldsIn(folder, 'config.json') ?? {};
  const modules = modulesIn(folder);
  const unknown = modules.find(({ type }) => !['Transformer', 'Pooling', 'Normalize'].includes(type));
  if (unknown !== undefined)
    throw new Error(`its module ${unknown.type} is not supported, only Transformer, Pooling and Normalize are`);
  const path = modules.find(({ type }) => type === 'Pooling')?.path ?? '1_Pooling';
  const pooling = fieldsIn(folder, join(path, 'config.json')) ?? {};
  return {
    pooling: poolingIn(pooling),
    normalize: modules.some(({ type }) => type === 'Normalize'),
    maxTokens: maxTokensIn(folder, config),
    dimensions: [
      pooling['embedding_dimension'],
      pooling['word_embedding_dimension'],
      config['hidden_size'],
      config['d_model'],
      config['dim'],
    ].find(isCount),
  };
};

/** The folder of the pooling that `modules.json` names, below the model's own. */
export const poolingFile = (folder: string): string =>
  `${modulesIn(folder).find(({ type }) => type === 'Pooling')?.path ?? '1_Pooling'}/config.json`;

const modulesIn = (folder: string): readonly { readonly type: string; readonly path: string }[] => {
  const modules = jsonIn(folder, 'modules.json') ?? [];
  if (!Array.isArray(modules)) throw new Error('its modules.json is no list');
  return (modules as Fields[]).map(({ type, path }) => {
    if (typeof type !== 'string' || typeof path !== 'string' || !/^\w*$/.test(path))
      throw new Error('its modules.json names a module without a type, or outside its folder');
    return { type: type.split('.').at(-1) as string, path };
  });
};

const MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
};

const poolingIn = (config: Fields): Pooling => {
  const { pooling_mode: mode } = config;
  if (mode === 'mean' || mode === 'cls' || mode === 'max') return mode;
  const modes = Object.keys(config).filter((name) => name.startsWith('pooling_mode_') && config[name] === true);
  if (mode === undefined && modes.length === 0) return 'mean';
  const [named = String(mode)] = modes;
  const pooling = modes.length === 1 ? MODES[named] : undefined;
  if (pooling === undefined)
    throw new Error(
      `its pooling ${[...modes, mode].filter(Boolean).join(' with ')} is not supported, only one of mean, cls and max is`,
    );
  return pooling;
};

const maxTokensIn = (folder: string, config: Fields): number => {
  const stated =
    [fieldsIn(folder, 'sentence_bert_config.json')?.['max_seq_length']].find(isCount) ??
    [fieldsIn(folder, 'tokenizer_config.json')?.['model_max_length']].find(isCount);
  const positions = [config['max_position_embeddings']].find(isCount);
  // Models of RoBERTa's family count positions from 2.
  const reserved = /roberta|mpnet|camembert/.test(String(config['model_type'])) ? 2 : 0;
  return Math.min(
    stated ?? USUAL_TOKENS,
    positions === undefined ? MOST_TOKENS : Math.max(1, positions - reserved),
    MOST_TOKENS,
  );
};

const isCount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 1;

const fieldsIn = (folder: string, file: string): Fields | undefined => {
  const value = jsonIn(folder, file);
  if (value !== undefined && (typeof value !== 'object' || value === null)) throw new Error(`its ${file} is no object`);
  return value as Fields | undefined;
};

/** Undefined where the file is absent. */
const jsonIn = (folder: string, file: string): unknown => {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`its ${file} cannot be read`, { cause: error });
  }
};
