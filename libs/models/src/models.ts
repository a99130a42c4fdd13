import { join } from 'node:path';
import { refuse, type Config } from '@app/kernel';
import { LOCAL, readCatalogue, type Catalogue, type ModelDescription, type ModelKind } from './catalogue';
import { ExtractiveChat } from './local/extractive-chat';
import { LocalEmbeddings } from './local/local-embeddings';
import type { ChatProvider, EmbeddingProvider, Provider } from './provider';

interface Known {
  readonly catalogue: Catalogue;
  readonly providers: ReadonlyMap<string, Provider>;
}

/** The models of this instance and whoever runs them. */
export class Models {
  private constructor(
    private readonly read: () => Known,
    private readonly local: LocalEmbeddings,
    private known = read(),
  ) {}

  /** Reads `MODELS_FILE` and prepares the providers. Throws `InvalidConfig`. */
  static open(config: Pick<Config, 'MODELS_FILE' | 'DEFAULT_CURRENCY' | 'DATA_DIR'>, environment: Readonly<Record<string, string | undefined>>): Models {
    const local = new LocalEmbeddings(join(config.DATA_DIR, 'models'));
    const read = (): Known => {
      const catalogue = readCatalogue(config.MODELS_FILE, config.DEFAULT_CURRENCY);
      return { catalogue, providers: providersOf(catalogue, local, environment) };
    };
    return new Models(read, local);
  }

  get catalogue(): Catalogue {
    return this.known.catalogue;
  }

  /** Reads `MODELS_FILE` again; calls that run go on as they began. Throws `InvalidConfig`, and then nothing changes. */
  reload(): void {
    this.known = this.read();
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

  close(): Promise<void> {
    return this.local.close();
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

const providersOf = (catalogue: Catalogue, local: LocalEmbeddings, environment: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, Provider> => {
  const providers = new Map<string, Provider>([[LOCAL, { chat: new ExtractiveChat(), embeddings: local }]]);
  for (const [name, description] of catalogue.providers) {
    // A large client, loaded only where a provider needs it.
    const { openAiProvider } = require('./openai/openai-provider') as typeof import('./openai/openai-provider');
    providers.set(name, openAiProvider(name, description, environment));
  }
  return providers;
};
