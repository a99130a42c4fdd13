import type { ModelDescription } from '../catalogue';
import { textOfMessage } from '../chat-messages';
import type {
  ChatChunk,
  ChatRequest,
  ChatResult,
  ChatSource,
  EmbeddingRequest,
  Embeddings,
  FinishReason,
  Provider,
  Ranking,
  RerankRequest,
} from '../provider';
import { sourceText } from '../upstream/prompt';
import { estimatedTokens, usageOf } from '../usage';
import { extractsFor } from './extract';
import { LocalEmbeddings, type OpenedEmbeddings } from './local-embeddings';
import { relevancesOf } from './relevance';
import { summaryOf } from './summary';

const NOT_FOUND = 'The documents do not answer this. The local model only quotes documents.';
const NO_SOURCES = 'No document matches this question. The local model only quotes documents.';

/**
 * The models that need no network: a chat that answers with the sentences of the sources that cover the question best, and says so when
 * none does, or sums them up in their own sentences; small English embeddings; a lexical reranker.
 */
export class LocalProvider implements Provider {
  /** `folder` holds the converted embedding model between runs. */
  constructor(
    folder: string,
    private readonly embeddings: OpenedEmbeddings = new LocalEmbeddings(folder),
  ) {}

  async complete(request: ChatRequest): Promise<ChatResult> {
    let text = '';
    for await (const chunk of this.stream(request)) {
      if (chunk.type === 'text') text += chunk.text;
      else if (chunk.type === 'finish') {
        const { type: _, ...finish } = chunk;
        return { content: [{ type: 'text', text }], ...finish };
      }
    }
    throw new Error('the answer has no end');
  }

  /** It has no tools and no seed, and says what it says whatever form the answer is to have. */
  async *stream(request: ChatRequest): AsyncIterable<ChatChunk> {
    const { model, messages, sources, signal, task } = request;
    request.onSent?.(givenTo(request));
    const question = messages.findLast(({ role }) => role === 'user');
    const whole =
      task === 'summary'
        ? [summaryOf(sources)]
        : answer(question === undefined ? '' : textOfMessage(question), sources);
    const { pieces, finishReason } = shortened(whole, request);
    for (const text of pieces) {
      signal.throwIfAborted();
      yield { type: 'text', text };
    }
    const input = [...messages.map(textOfMessage), ...sources.map(({ text }) => text)].join('\n');
    yield {
      type: 'finish',
      model,
      finishReason,
      usage: usageOf({
        input: estimatedTokens(input),
        output: estimatedTokens(pieces.join('')),
      }),
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

/** What the model is given, as JSON: there is no request. Sources, and calls of tools that others made stand in it as texts, as providers are sent them. */
const givenTo = ({ model, messages, sources }: ChatRequest): string =>
  JSON.stringify({
    model: model.key,
    messages: messages.map(({ role, content }) => ({
      role,
      content: content.map((part) => {
        if (part.type === 'file') return { type: 'text', text: part.inWords ?? part.filename ?? '' };
        return part.type === 'tool-call' ? { ...part, input: JSON.stringify(part.input ?? {}) } : part;
      }),
    })),
    sources: sources.map(sourceText),
  });

/** What of an answer comes before a stop sequence, in as many tokens as it may have. */
const shortened = (
  pieces: readonly string[],
  { stopSequences = [], maxOutputTokens }: Pick<ChatRequest, 'stopSequences' | 'maxOutputTokens'>,
): { readonly pieces: readonly string[]; readonly finishReason: FinishReason } => {
  const text = pieces.join('');
  const stops = stopSequences.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  const said = text.slice(0, Math.min(text.length, ...stops));
  const room = maxOutputTokens === undefined ? Infinity : maxOutputTokens * 4;
  if (said.length === text.length && Buffer.byteLength(text) <= room) return { pieces, finishReason: 'stop' };
  const kept = Buffer.byteLength(said) <= room ? said : withinBytes(said, room);
  return { pieces: kept === '' ? [] : [kept], finishReason: kept === said ? 'stop' : 'length' };
};

/** As many whole characters as fit into so many bytes. */
const withinBytes = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

const answer = (question: string, sources: readonly ChatSource[]): readonly string[] => {
  if (sources.length === 0) return [NO_SOURCES];
  const extracts = extractsFor(question, sources);
  if (extracts.length === 0) return [NOT_FOUND];
  return extracts.map(({ text, source }, index) => `${index === 0 ? '' : ' '}${text} [${source}]`);
};
