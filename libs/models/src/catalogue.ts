import { readFileSync, statSync } from 'node:fs';
import { InvalidConfig, issueWords } from '@app/kernel';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  currencyMistakes,
  defaultMistakes,
  fallbackMistakes,
  formMistakes,
  nameMistakes,
  namesIn,
  transformersMistakes,
} from './catalogue-mistakes';
import { missingPrices, modelKind, priceVersionOf, pricingOf, statedPricing } from './pricing';
import { LOCAL } from './provider';
import { securityTier, securityTierOf } from './security-tier';

const name = z.string().min(1).max(200);

/** Nobody would send what else stands in an address. */
const httpUrl = z.url({ protocol: /^https?$/ }).refine(
  (text) => {
    const url = URL.parse(text);
    return url === null || `${url.username}${url.password}${url.hash}` === '';
  },
  { message: 'must have no user, password or fragment' },
);

const providerSchema = z.strictObject({
  /** `openai`: whoever speaks that API. `azure`: the same behind a path for each deployment, named by `modelId`, and the header `api-key`. */
  kind: z.enum(['openai', 'azure']),
  /** Its query goes with each call. */
  baseUrl: httpUrl,
  /** Name of the environment variable with the key; absent: the provider wants none. */
  apiKeyEnv: z.string().min(1).optional(),
  /** Version of the API, of `azure` alone. */
  apiVersion: name.default('2024-10-21'),
  /** How long a call may take, streaming included, milliseconds. */
  timeoutMs: z.number().int().min(100).max(3_600_000).default(600_000),
  /** False where it rejects `stream_options`, as Mistral does: then nobody asks it for the usage of a stream. */
  streamOptions: z.boolean().optional(),
  /** Request fields beyond the known ones that calls may carry. */
  forward: z.array(name).default([]),
});
/** A provider over the network, as the catalogue describes it. */
export type ProviderDescription = z.output<typeof providerSchema>;

const transformersSchema = z.strictObject({
  /** Embedding models in ONNX form, run here by the package `@huggingface/transformers`. `modelId` is a folder. */
  kind: z.literal('transformers'),
  /** Where a `modelId` that is no folder is downloaded from; absent: nothing is. */
  hub: httpUrl.optional(),
});
/** A provider in this process, as the catalogue describes it. */
export type TransformersDescription = z.output<typeof transformersSchema>;

const modelSchema = z
  .strictObject({
    key: name,
    modelId: name.optional(),
    provider: name,
    kind: modelKind,
    displayName: name.optional(),
    region: name.nullable().default(null),
    securityTier: securityTier.nullable().default(null),
    locationLabel: name.nullable().default(null),
    tags: z.array(name).default([]),
    contextWindow: z.number().int().positive().optional(),
    /** Key of the model that calls go to while this one fails. */
    fallback: name.optional(),
    maxTokensField: z.enum(['max_completion_tokens', 'max_tokens']).default('max_completion_tokens'),
    pricing: statedPricing,
    dimensions: z.number().int().positive().optional(),
    /** Put before a query or a passage, where a model wants it. */
    queryPrefix: z.string().default(''),
    passagePrefix: z.string().default(''),
    languages: z.array(name).optional(),
    /** Weight of this model's vectors beside the words in search, 0 to 1; 1 by default. */
    vectorWeight: z.number().min(0).max(1).optional(),
  })
  .superRefine(({ kind, pricing }, context) => {
    const missing = missingPrices(pricing, kind);
    if (missing !== undefined) context.addIssue({ code: 'custom', path: ['pricing'], message: missing });
  })
  .transform((model) => {
    const pricing = pricingOf(model.pricing);
    return {
      ...model,
      modelId: model.modelId ?? model.key,
      displayName: model.displayName ?? model.key,
      pricing,
      priceVersion: priceVersionOf(pricing),
    };
  });
type GivenModel = z.output<typeof modelSchema>;

/** A model of the instance. `priceVersion` names its prices as they stand. */
export type ModelDescription = Omit<GivenModel, 'securityTier'> & {
  readonly securityTier: z.output<typeof securityTier>;
};

const fileSchema = z.strictObject({
  defaultModel: name.default('local-chat'),
  embeddingModel: name.default('local-embedding'),
  rerankerModel: name.default('local-reranker'),
  imageModel: name.nullable().default(null),
  speechModel: name.nullable().default(null),
  transcriptionModel: name.nullable().default(null),
  /** Titles conversations; null: none does, and they are called by their first questions. By default the model that answered. */
  titleModel: name.nullable().optional(),
  /** Where the platform itself runs: models of this region are `secure`. */
  hostingRegion: name.optional(),
  providers: z.record(name, z.discriminatedUnion('kind', [providerSchema, transformersSchema])).default({}),
  /** Each is read by itself, so that what is wrong with one hides nothing of another. */
  models: z.array(z.unknown()).default([]),
});

/** The models of the instance. `defaultModel` and the others are keys of models of their kind; of the last three there may be none. */
export interface Catalogue {
  readonly defaultModel: string;
  readonly embeddingModel: string;
  readonly rerankerModel: string;
  readonly imageModel: string | null;
  readonly speechModel: string | null;
  readonly transcriptionModel: string | null;
  /** Undefined: the model that answered titles a conversation; null: none does. */
  readonly titleModel: string | null | undefined;
  /** When the file was written, seconds since 1970. */
  readonly writtenAt: number;
  readonly providers: ReadonlyMap<string, ProviderDescription | TransformersDescription>;
  readonly models: ReadonlyMap<string, ModelDescription>;
}

/** November 2026, seconds since 1970. */
const LOCAL_SINCE = 1_793_491_200;

const localModels: readonly z.input<typeof modelSchema>[] = [
  {
    key: 'local-chat',
    provider: LOCAL,
    kind: 'chat',
    displayName: 'Local (answers by quoting documents)',
    securityTier: 'secure',
    pricing: 'free',
  },
  // Measured: this small English model must not lead (docs/decisions, search).
  {
    key: 'local-embedding',
    provider: LOCAL,
    kind: 'embedding',
    displayName: 'Local (small, English)',
    securityTier: 'secure',
    pricing: 'free',
    dimensions: 512,
    languages: ['en'],
    vectorWeight: 0.2,
  },
  {
    key: 'local-reranker',
    provider: LOCAL,
    kind: 'reranker',
    displayName: 'Local (lexical)',
    securityTier: 'secure',
    pricing: 'free',
  },
];

/** Reads `MODELS_FILE` (JSON or YAML), or gives the local models alone. Throws `InvalidConfig` naming all that is wrong. */
export const readCatalogue = (file: string | undefined, currency: string): Catalogue => {
  const content = file === undefined ? {} : contentOf(file);
  const given = fileSchema.safeParse(content, { error: issueWords });
  const read = [...localModels, ...entriesIn(content)].map((entry) => ({
    ...modelSchema.safeParse(entry, { error: issueWords }),
    names: namesIn(entry),
  }));
  const described = read.flatMap(({ data }) =>
    data === undefined ? [] : [{ ...data, securityTier: securityTierOf(data, given.data?.hostingRegion) }],
  );
  const models = new Map(described.map((model) => [model.key, model]));
  const unread = new Set(read.flatMap(({ success, names: { key } }) => (success || key === undefined ? [] : [key])));
  const providers = new Set(Object.keys(given.data?.providers ?? providersIn(content)));
  const mistakes = new Set([
    ...formMistakes(given.error?.issues ?? []),
    ...(providers.has(LOCAL) ? [`the provider ${LOCAL} is built in`] : []),
    ...read.flatMap(({ error, names: { key } }, index) =>
      formMistakes(
        error?.issues ?? [],
        key === undefined ? `models.${index - localModels.length}` : `the model ${key}`,
      ),
    ),
    ...nameMistakes(
      read.map(({ names }) => names),
      providers,
    ),
    ...currencyMistakes(described, currency),
    ...fallbackMistakes(models, unread),
    ...transformersMistakes(models, given.data?.providers ?? {}),
    ...defaultMistakes(given.success ? defaultsIn(given.data) : [], models, unread),
  ]);
  if (!given.success || mistakes.size > 0) throw invalid([...mistakes].join('; '));
  const { defaultModel, embeddingModel, rerankerModel, imageModel, speechModel, transcriptionModel, titleModel } =
    given.data;
  const writtenAt = file === undefined ? LOCAL_SINCE : Math.floor(statSync(file).mtimeMs / 1000);
  return {
    defaultModel,
    embeddingModel,
    rerankerModel,
    imageModel,
    speechModel,
    transcriptionModel,
    titleModel,
    writtenAt,
    providers: new Map(Object.entries(given.data.providers)),
    models,
  };
};

const defaultsIn = (file: z.output<typeof fileSchema>) => {
  const defaults = [
    [file.defaultModel, 'chat'],
    [file.embeddingModel, 'embedding'],
    [file.rerankerModel, 'reranker'],
    [file.imageModel, 'image'],
    [file.speechModel, 'speech'],
    [file.transcriptionModel, 'transcription'],
    [file.titleModel ?? null, 'chat'],
  ] as const;
  return defaults.flatMap(([key, kind]) => (key === null ? [] : [[key, kind] as const]));
};

/** The models of a file that may have any form. */
const entriesIn = (content: unknown): readonly unknown[] => {
  const models = typeof content === 'object' && content !== null && 'models' in content ? content.models : [];
  return Array.isArray(models) ? models : [];
};

/** The providers, by name, of a file that may have any form. */
const providersIn = (content: unknown): object => {
  const providers = typeof content === 'object' && content !== null && 'providers' in content ? content.providers : {};
  return typeof providers === 'object' && providers !== null ? providers : {};
};

const contentOf = (file: string): unknown => {
  try {
    // YAML 1.2 reads JSON too; aliases and duplicate keys have no place here.
    return parse(readFileSync(file, 'utf8'), { maxAliasCount: 0, uniqueKeys: true });
  } catch (error) {
    throw invalid(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
};

const invalid = (reason: string): InvalidConfig => new InvalidConfig(`MODELS_FILE is invalid: ${reason}.`);
