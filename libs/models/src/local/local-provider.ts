import type { ModelDescription } from '../catalogue';
import type {
  ChatChunk,
  ChatRequest,
  ChatResult,
  ChatSource,
  EmbeddingRequest,
  Embeddings,
  Provider,
  Ranking,
  RerankRequest,
} from '../provider';
import { estimatedTokens, usageOf } from '../usage';
import { extractsFor } from './extract';
import { LocalEmbeddings } from './local-embeddings';
import { relevancesOf } from './relevance';
import { summaryOf } from './summary';

const NOT_FOUND = 'The documents do not answer this. The local model only quotes documents.';
const NO_SOURCES = 'No document matches this question. The local model only quotes documents.';

/**
 * The models that need no network: a chat that answers with the sentences of the sources that cover the question best, and says so when
 * none does, or sums them up in their own sentences; small English embeddings; a lexical reranker.
 */
export class LocalProvider implements Provider {
  private readonly embeddings: LocalEmbeddings;

  /** `folder` holds the converted embedding model between runs. */
  constructor(folder: string) {
    this.embeddings = new LocalEmbeddings(folder);
  }

  async complete(request: ChatRequest): Promise<ChatResult> {
    let text = '';
    for await (const chunk of this.stream(request)) {
      if (chunk.type === 'text') text += chunk.text;
      else {
        const { type: _, ...finish } = chunk;
        return { text, ...finish };
      }
    }
    throw new Error('the answer has no end');
  }

  async *stream({ model, messages, sources, signal, task }: ChatRequest): AsyncIterable<ChatChunk> {
    const question = messages.at(-1)?.text ?? '';
    const pieces = task === 'summary' ? [summaryOf(sources)] : answer(question, sources);
    for (const text of pieces) {
      signal.throwIfAborted();
      yield { type: 'text', text };
    }
    const input = [...messages.map(({ text }) => text), ...sources.map(({ text }) => text)].join('\n');
    yield {
      type: 'finish',
      model,
      finishReason: 'stop',
      usage: usageOf({ input: estimatedTokens(input), output: estimatedTokens(pieces.join('')) }),
      usageSource: 'counted',
    };
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

const answer = (question: string, sources: readonly ChatSource[]): readonly string[] => {
  if (sources.length === 0) return [NO_SOURCES];
  const extracts = extractsFor(question, sources);
  if (extracts.length === 0) return [NOT_FOUND];
  return extracts.map(({ text, source }, index) => `${index === 0 ? '' : ' '}${text} [${source}]`);
};
