import { readFileSync, statSync } from 'node:fs';
import { InvalidConfig } from '@app/kernel';
import { parse } from 'yaml';
import { z } from 'zod';
import { modelKind } from './model-kind';
import { missingPrices, priceVersionOf, pricingOf, statedPricing } from './pricing';
import { securityTier, securityTierOf } from './security-tier';

const name = z.string().min(1).max(200);

const providerSchema = z.strictObject({
  /** `openai`: whoever speaks that API. `azure`: the same behind a path for each deployment, named by `modelId`, and the header `api-key`. */
  kind: z.enum(['openai', 'azure']),
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Name of the environment variable with the key; absent: the provider wants none. */
  apiKeyEnv: z.string().min(1).optional(),
  /** Version of the API, of `azure` alone. */
  apiVersion: name.default('2024-10-21'),
  /** How long a call may take, streaming included, milliseconds. */
  timeoutMs: z.number().int().min(100).max(3_600_000).default(600_000),
  /** Request fields beyond the known ones that calls may carry. */
  forward: z.array(name).default([]),
});
export type ProviderDescription = z.output<typeof providerSchema>;

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
    /** Key of the model that calls of the gateway go to while this one fails. */
    fallback: name.optional(),
    maxTokensField: z.enum(['max_completion_tokens', 'max_tokens']).default('max_completion_tokens'),
    pricing: statedPricing,
    dimensions: z.number().int().positive().optional(),
    /** Put before a query or a passage, where a model wants it. */
    queryPrefix: z.string().default(''),
    passagePrefix: z.string().default(''),
    languages: z.array(name).optional(),
    /** Weight of this model's vector ranks beside the text ranks in search, 0 to 1. */
    vectorWeight: z.number().min(0).max(1).optional(),
  })
  .superRefine(({ kind, pricing }, context) => {
    const missing = missingPrices(pricing, kind);
    if (missing !== undefined) context.addIssue({ code: 'custom', path: ['pricing'], message: missing });
  })
  .transform((model) => {
    const pricing = pricingOf(model.pricing);
    return { ...model, modelId: model.modelId ?? model.key, displayName: model.displayName ?? model.key, pricing, priceVersion: priceVersionOf(pricing) };
  });
type GivenModel = z.output<typeof modelSchema>;

/** A model of the instance. `priceVersion` names its prices as they stand. */
export type ModelDescription = Omit<GivenModel, 'securityTier'> & { readonly securityTier: z.output<typeof securityTier> };

const fileSchema = z.strictObject({
  defaultModel: name.default('local-chat'),
  embeddingModel: name.default('local-embedding'),
  rerankerModel: name.default('local-reranker'),
  /** Where the platform itself runs: models of this region are `secure`. */
  hostingRegion: name.optional(),
  providers: z.record(name, providerSchema).default({}),
  models: z.array(modelSchema).default([]),
});

/** The models of the instance. `defaultModel`, `embeddingModel` and `rerankerModel` are keys of models of their kind. */
export interface Catalogue {
  readonly defaultModel: string;
  readonly embeddingModel: string;
  readonly rerankerModel: string;
  /** When the file was written, seconds since 1970. */
  readonly writtenAt: number;
  readonly providers: ReadonlyMap<string, ProviderDescription>;
  readonly models: ReadonlyMap<string, ModelDescription>;
}

/** The provider that needs no network. Its models exist always. */
export const LOCAL = 'local';
/** November 2026, seconds since 1970. */
const LOCAL_SINCE = 1_793_491_200;

const localModels: readonly z.input<typeof modelSchema>[] = [
  { key: 'local-chat', provider: LOCAL, kind: 'chat', displayName: 'Local (answers by quoting documents)', securityTier: 'secure', pricing: 'free' },
  // Measured: this small English model must not lead (docs/decisions, search).
  { key: 'local-embedding', provider: LOCAL, kind: 'embedding', displayName: 'Local (small, English)', securityTier: 'secure', pricing: 'free', dimensions: 512, languages: ['en'], vectorWeight: 0.25 },
  { key: 'local-reranker', provider: LOCAL, kind: 'reranker', displayName: 'Local (lexical)', securityTier: 'secure', pricing: 'free' },
];

/** Reads `MODELS_FILE` (JSON or YAML), or gives the local models alone. Throws `InvalidConfig` naming what is wrong. */
export const readCatalogue = (file: string | undefined, currency: string): Catalogue => {
  const given = fileSchema.safeParse(file === undefined ? {} : contentOf(file));
  if (!given.success) throw invalid(given.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; '));
  const { defaultModel, embeddingModel, rerankerModel, hostingRegion, providers } = given.data;
  if (Object.hasOwn(providers, LOCAL)) throw invalid(`the provider ${LOCAL} is built in`);
  const models = new Map<string, ModelDescription>();
  for (const model of [...localModels.map((local) => modelSchema.parse(local)), ...given.data.models]) {
    if (models.has(model.key)) throw invalid(`the model ${model.key} is there twice`);
    if (model.provider !== LOCAL && !Object.hasOwn(providers, model.provider)) throw invalid(`the model ${model.key} names the unknown provider ${model.provider}`);
    if (model.provider === LOCAL && !model.key.startsWith('local-')) throw invalid(`the model ${model.key} cannot be added to the provider ${LOCAL}`);
    if (model.pricing !== 'free' && model.pricing.currency !== currency) throw invalid(`the model ${model.key} is priced in ${model.pricing.currency}, not in ${currency}`);
    models.set(model.key, { ...model, securityTier: securityTierOf(model, hostingRegion) });
  }
  for (const { key, kind, fallback } of models.values()) {
    const other = fallback === undefined ? undefined : models.get(fallback);
    if (fallback !== undefined && (other?.kind !== kind || other.provider === LOCAL || fallback === key)) throw invalid(`the fallback ${fallback} of the model ${key} is no other ${kind} model of a provider`);
  }
  for (const [key, kind] of [[defaultModel, 'chat'], [embeddingModel, 'embedding'], [rerankerModel, 'reranker']] as const) {
    if (models.get(key)?.kind !== kind) throw invalid(`${key} is not a ${kind} model`);
  }
  const writtenAt = file === undefined ? LOCAL_SINCE : Math.floor(statSync(file).mtimeMs / 1000);
  return { defaultModel, embeddingModel, rerankerModel, writtenAt, providers: new Map(Object.entries(providers)), models };
};

const contentOf = (file: string): unknown => {
  try {
    // YAML 1.2 reads JSON too; aliases and duplicate keys have no place here.
    return parse(readFileSync(file, 'utf8'), { maxAliasCount: 0, uniqueKeys: true });
  } catch (error) {
    throw invalid(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`);
  }
};

const invalid = (reason: string): InvalidConfig => new InvalidConfig(`MODELS_FILE is wrong: ${reason}.`);
