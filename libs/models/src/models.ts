import { join } from 'node:path';
import { canonicalJson, refuse, type Config } from '@app/kernel';
import { readCatalogue, type Catalogue, type ModelDescription } from './catalogue';
import { ExtractiveChat } from './local/extractive-chat';
import { LocalEmbeddings } from './local/local-embeddings';
import type { ModelKind } from './model-kind';
import { OutputRates } from './output-rates';
import { type ChatProvider, type EmbeddingProvider, LOCAL, type Provider } from './provider';
import { providerKey } from './provider-key';
import type { CircuitState } from './upstream/circuit-breaker';
import type { Upstream } from './upstream/upstream';
import type { Route } from './upstream/upstream-call';

type Environment = Readonly<Record<string, string | undefined>>;

interface Known {
  readonly catalogue: Catalogue;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly routes: ReadonlyMap<string, readonly Route[]>;
  readonly mayAnswer: ReadonlyMap<string, readonly ModelDescription[]>;
}

/** Whether a provider is called at present. */
export interface ProviderStatus {
  readonly name: string;
  readonly circuit: CircuitState;
}

/** The models of this instance and whoever runs them. */
export class Models {
  /** How fast they are, as far as this process has seen. */
  readonly rates = new OutputRates();

  private constructor(
    private readonly read: (before?: Known) => Known,
    private readonly local: LocalEmbeddings,
    private known = read(),
  ) {}

  /** Reads `MODELS_FILE` and prepares the providers. Throws `InvalidConfig`. */
  static open(config: Pick<Config, 'MODELS_FILE' | 'DEFAULT_CURRENCY' | 'DATA_DIR'>, environment: Environment): Models {
    const local = new LocalEmbeddings(join(config.DATA_DIR, 'models'));
    const read = (before?: Known): Known => {
      const catalogue = readCatalogue(config.MODELS_FILE, config.DEFAULT_CURRENCY);
      const upstreams = upstreamsOf(catalogue, environment, before?.upstreams);
      const routes = routesOf(catalogue, upstreams);
      const mayAnswer = new Map([...routes].map(([key, ways]) => [key, ways.map(({ model }) => model)]));
      return { catalogue, providers: providersOf(catalogue, local, environment), upstreams, routes, mayAnswer };
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
  }

  /** A chat model, the default one for null. Refuses `model_not_available` for what the catalogue does not have. */
  chat(key: string | null): { readonly model: ModelDescription; readonly provider: ChatProvider } {
    const model = this.find(key ?? this.catalogue.defaultModel, 'chat');
    return { model, provider: this.providerOf(model).chat };
  }

  /** The model that Knowledge is embedded with. */
  embedding(): { readonly model: ModelDescription; readonly provider: EmbeddingProvider } {
    const model = this.find(this.catalogue.embeddingModel, 'embedding');
    return { model, provider: this.providerOf(model).embeddings };
  }

  /** The model that ranks documents. */
  get reranker(): ModelDescription {
    return this.find(this.catalogue.rerankerModel, 'reranker');
  }

  /** Where calls of a model go: to its provider, then to its fallback's. Empty for a local model, which needs no call. */
  routes(model: ModelDescription): readonly Route[] {
    return this.known.routes.get(model.key) ?? [];
  }

  /** A model and its fallback, as far as they are called at a provider. */
  mayAnswer(model: ModelDescription): readonly ModelDescription[] {
    return this.known.mayAnswer.get(model.key) ?? [];
  }

  /** The local model behind a description whose provider is the built-in one. */
  get localProvider(): Provider {
    return this.known.providers.get(LOCAL) as Provider;
  }

  providerStatus(): readonly ProviderStatus[] {
    return [...this.known.upstreams.values()].map(({ name, breaker }) => ({ name, circuit: breaker.state }));
  }

  async close(): Promise<void> {
    await Promise.all([this.local.close(), ...[...this.known.upstreams.values()].map((upstream) => upstream.close())]);
  }

  private find(key: string, kind: ModelKind): ModelDescription {
    const model = this.catalogue.models.get(key);
    return model?.kind === kind ? model : refuse('model_not_available', { kind });
  }

  private providerOf(model: ModelDescription): Provider {
    const provider = this.known.providers.get(model.provider);
    if (provider === undefined) throw new Error(`no provider ${model.provider}`);
    return provider;
  }
}

const providersOf = (
  catalogue: Catalogue,
  local: LocalEmbeddings,
  environment: Environment,
): ReadonlyMap<string, Provider> => {
  const providers = new Map<string, Provider>([[LOCAL, { chat: new ExtractiveChat(), embeddings: local }]]);
  for (const [name, description] of catalogue.providers) {
    // A large client, loaded only where a provider needs it.
    const { openAiProvider } = require('./openai/openai-provider') as typeof import('./openai/openai-provider');
    providers.set(name, openAiProvider(name, description, environment));
  }
  return providers;
};

/** Providers that are described as before keep their connections and what is known of their failures. */
const upstreamsOf = (
  catalogue: Catalogue,
  environment: Environment,
  before: ReadonlyMap<string, Upstream> = new Map(),
): ReadonlyMap<string, Upstream> => {
  const upstreams = new Map<string, Upstream>();
  for (const [name, description] of catalogue.providers) {
    const { Upstream: Made } = require('./upstream/upstream') as typeof import('./upstream/upstream');
    const known = before.get(name);
    const unchanged = known !== undefined && canonicalJson(known.description) === canonicalJson(description);
    upstreams.set(name, unchanged ? known : new Made(name, description, providerKey(name, description, environment)));
  }
  return upstreams;
};

/** By model. */
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
