import { join } from 'node:path';
import { canonicalJson, type Config, InvalidConfig, reject } from '@app/kernel';
import { type Catalogue, type ModelDescription, type ProviderDescription, readCatalogue } from './catalogue';
import type { OpenedEmbeddings } from './local/local-embeddings';
import { LocalProvider } from './local/local-provider';
import type { MediaProvider } from './media';
import type { ModelKind } from './pricing';
import { OutputRates } from './output-rates';
import { LOCAL, type Provider } from './provider';
import { TransformersProvider } from './transformers/transformers-provider';
import type { CircuitState } from './upstream/circuit-breaker';
import type { Upstream } from './upstream/upstream';
import type { Route } from './upstream/upstream-call';

type Environment = Readonly<Record<string, string | undefined>>;

interface Known {
  readonly catalogue: Catalogue;
  /** The providers that it names. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Whoever runs the models of all of them; undefined where there are none. */
  readonly remote: Provider | undefined;
  readonly media: MediaProvider | undefined;
  /** Those that run here, by the form of their description. */
  readonly transformers: ReadonlyMap<string, TransformersProvider>;
}

/** Whether a provider is called at present. */
export interface ProviderStatus {
  readonly name: string;
  readonly circuit: CircuitState;
}

/** What models that run here keep between runs. */
export const modelsFolder = ({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string => join(DATA_DIR, 'models');

/** The models of this instance and whoever runs them. */
export class Models {
  /** How fast they are, as far as this process has seen. */
  readonly rates = new OutputRates();

  private constructor(
    private readonly read: (before?: Known) => Known,
    private readonly local: LocalProvider,
    private known = read(),
  ) {}

  /**
   * Reads `MODELS_FILE` and prepares the providers. `packages`: where an optional package is looked for, from there upwards. Throws
   * `InvalidConfig`.
   */
  static open(
    config: Pick<Config, 'MODELS_FILE' | 'DEFAULT_CURRENCY' | 'DATA_DIR'>,
    environment: Environment,
    packages = __dirname,
    embeddings?: OpenedEmbeddings,
  ): Models {
    const folder = modelsFolder(config);
    const local = new LocalProvider(folder, embeddings);
    const read = (before?: Known): Known => {
      const catalogue = readCatalogue(config.MODELS_FILE, config.DEFAULT_CURRENCY);
      const upstreams = upstreamsOf(catalogue, environment, before?.upstreams);
      const transformers = transformersOf(catalogue, join(folder, 'hub'), packages, before?.transformers);
      return { catalogue, upstreams, ...remoteProviders(catalogue, upstreams), transformers };
    };
    return new Models(read, local);
  }

  get catalogue(): Catalogue {
    return this.known.catalogue;
  }

  /** Reads `MODELS_FILE` again; calls that run go on as they began. Throws `InvalidConfig`, and then nothing changes. */
  reload(): void {
    const before = this.known;
    this.known = this.read(before);
    const kept = new Set(this.known.upstreams.values());
    for (const upstream of before.upstreams.values()) if (!kept.has(upstream)) void upstream.close();
    const running = new Set(this.known.transformers.values());
    for (const provider of before.transformers.values()) if (!running.has(provider)) void provider.close();
  }

  /** Runs each model of the kind `transformers` once. Throws `InvalidConfig` where one cannot be loaded or has other dimensions than described. */
  async verify(): Promise<void> {
    for (const provider of this.known.transformers.values()) await provider.verify();
  }

  /** A chat model, the default one for null, and whoever runs it. Rejects `model_not_available` for what the catalogue does not have. */
  chat(key: string | null): { readonly model: ModelDescription; readonly provider: Provider } {
    const model = this.find(key ?? this.catalogue.defaultModel, 'chat');
    return { model, provider: this.provider(model) };
  }

  /** The model that Knowledge is embedded with, and whoever runs it. */
  embedding(): { readonly model: ModelDescription; readonly provider: Provider } {
    const model = this.find(this.catalogue.embeddingModel, 'embedding');
    return { model, provider: this.provider(model) };
  }

  /** The other embedding models of the catalogue: documents that were embedded before a change of the model are still found by them. */
  otherEmbeddings(): readonly { readonly model: ModelDescription; readonly provider: Provider }[] {
    const { models, embeddingModel } = this.catalogue;
    return [...models.values()]
      .filter(({ kind, key }) => kind === 'embedding' && key !== embeddingModel)
      .map((model) => ({ model, provider: this.provider(model) }));
  }

  /** A model that makes or hears media, the default one of its kind for null, and whoever runs it. Rejects `model_not_available`. */
  media(
    kind: 'image' | 'speech' | 'transcription',
    key: string | null,
  ): { readonly model: ModelDescription; readonly provider: MediaProvider } {
    const { imageModel, speechModel, transcriptionModel } = this.catalogue;
    const byDefault = { image: imageModel, speech: speechModel, transcription: transcriptionModel }[kind];
    const model = this.find(key ?? byDefault ?? reject('model_not_available', { kind }), kind);
    return { model, provider: this.known.media ?? reject('model_not_available', { kind }) };
  }

  /** The model that ranks documents. */
  get reranker(): ModelDescription {
    return this.find(this.catalogue.rerankerModel, 'reranker');
  }

  /** Whoever runs a model, as the catalogue stands: what is read later changes nothing of it. */
  provider(model: ModelDescription): Provider {
    if (model.provider === LOCAL) return this.local;
    const { remote, transformers } = this.known;
    const here = transformers.get(model.key);
    if (here !== undefined) return here;
    if (remote === undefined) throw new Error(`no provider ${model.provider}`);
    return remote;
  }

  providerStatus(): readonly ProviderStatus[] {
    return [...this.known.upstreams.values()].map(({ name, circuit }) => ({ name, circuit }));
  }

  async close(): Promise<void> {
    const { upstreams, transformers } = this.known;
    const opened = [this.local, ...upstreams.values(), ...transformers.values()];
    await Promise.all(opened.map((provider) => provider.close()));
  }

  private find(key: string, kind: ModelKind): ModelDescription {
    const model = this.catalogue.models.get(key);
    return model?.kind === kind ? model : reject('model_not_available', { kind });
  }
}

/** Providers that are described as before keep their connections and what is known of their failures. */
const upstreamsOf = (
  catalogue: Catalogue,
  environment: Environment,
  before: ReadonlyMap<string, Upstream> = new Map(),
): ReadonlyMap<string, Upstream> => {
  const upstreams = new Map<string, Upstream>();
  for (const [name, description] of catalogue.providers) {
    if (description.kind === 'transformers') continue;
    const { Upstream: Made } = require('./upstream/upstream') as typeof import('./upstream/upstream');
    const known = before.get(name);
    const unchanged = known !== undefined && canonicalJson(known.description) === canonicalJson(description);
    upstreams.set(name, unchanged ? known : new Made(name, description, providerKey(name, description, environment)));
  }
  return upstreams;
};

/** By the key of each model. Those that are described as before go on. Throws `InvalidConfig`. */
const transformersOf = (
  { providers, models }: Catalogue,
  downloads: string,
  packages: string,
  before: ReadonlyMap<string, TransformersProvider> = new Map(),
): ReadonlyMap<string, TransformersProvider> => {
  const running = new Map<string, TransformersProvider>();
  for (const model of models.values()) {
    const description = providers.get(model.provider);
    if (description?.kind !== 'transformers') continue;
    const known = before.get(model.key);
    const made = TransformersProvider.open(model, description, downloads, packages);
    running.set(model.key, known?.runs(made) === true ? known : made);
  }
  return running;
};

/** Large clients, loaded only where a provider needs them. */
const remoteProviders = (
  catalogue: Catalogue,
  upstreams: ReadonlyMap<string, Upstream>,
): Pick<Known, 'remote' | 'media'> => {
  if (upstreams.size === 0) return { remote: undefined, media: undefined };
  const { OpenAiProvider } = require('./upstream/openai-provider') as typeof import('./upstream/openai-provider');
  const { OpenAiMedia } = require('./upstream/openai-media') as typeof import('./upstream/openai-media');
  const routes = routesOf(catalogue, upstreams);
  return { remote: new OpenAiProvider(routes), media: new OpenAiMedia(routes) };
};

/** Where calls of each model go, by its key: to its provider, then to its fallback's. */
const routesOf = (
  { models }: Catalogue,
  upstreams: ReadonlyMap<string, Upstream>,
): ReadonlyMap<string, readonly Route[]> => {
  const routeOf = (model: ModelDescription | undefined): readonly Route[] => {
    const upstream = model === undefined ? undefined : upstreams.get(model.provider);
    return model === undefined || upstream === undefined ? [] : [{ model, upstream }];
  };
  return new Map(
    [...models.values()].map((model) => [
      model.key,
      [...routeOf(model), ...(model.fallback === undefined ? [] : routeOf(models.get(model.fallback)))],
    ]),
  );
};

/** What stands in a header as it is. */
const KEY = /^[!-~]+$/;

/** The API key of a provider; undefined where it wants none. Throws `InvalidConfig` when the environment lacks it, or has what cannot be one: every call would fail as `unreachable`. */
export const providerKey = (
  name: string,
  { apiKeyEnv }: ProviderDescription,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  if (apiKeyEnv === undefined) return undefined;
  const key = Object.hasOwn(environment, apiKeyEnv) ? environment[apiKeyEnv] : undefined;
  if (key === undefined || key === '')
    throw new InvalidConfig(`Set ${apiKeyEnv}: the provider ${name} in MODELS_FILE needs it.`);
  if (!KEY.test(key))
    throw new InvalidConfig(
      `Correct ${apiKeyEnv}, the key of the provider ${name} in MODELS_FILE: it has a space, a line break or another character that no header takes.`,
    );
  return key;
};
