import type { ModelDescription } from '../catalogue';
import type {
  ChatChunk,
  ChatRequest,
  ChatResult,
  EmbeddingRequest,
  Embeddings,
  Provider,
  Ranking,
  RerankRequest,
} from '../provider';
import { ExtractiveChat } from './extractive-chat';
import { LocalEmbeddings } from './local-embeddings';
import { relevancesOf } from './relevance';

/** The models that need no network: a chat that quotes, small English embeddings, a lexical reranker. */
export class LocalProvider implements Provider {
  private readonly chat = new ExtractiveChat();
  private readonly embeddings: LocalEmbeddings;

  /** `folder` holds the converted embedding model between runs. */
  constructor(folder: string) {
    this.embeddings = new LocalEmbeddings(folder);
  }

  complete(request: ChatRequest): Promise<ChatResult> {
    return this.chat.complete(request);
  }

  stream(request: ChatRequest): AsyncIterable<ChatChunk> {
    return this.chat.stream(request);
  }

  embed(request: EmbeddingRequest): Promise<Embeddings> {
    return this.embeddings.embed(request);
  }

  /** Scores are the share of the query's weight that a document's words cover. */
  async rerank({ model, query, documents, signal }: RerankRequest): Promise<Ranking> {
    return { model, scores: await relevancesOf(query, documents, signal) };
  }

  mayAnswer(model: ModelDescription): readonly ModelDescription[] {
    return [model];
  }

  routes(): readonly [] {
    return [];
  }

  async close(): Promise<void> {
    await this.embeddings.close();
  }
}
