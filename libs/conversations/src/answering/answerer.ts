import { isDomainError, isUnavailable } from '@app/kernel';
import { billed, type ChatChunk, type ChatMessage, type ChatProvider, type ChatRequest, estimatedTokens, type Models, type Sampling, termsOf, usageOf } from '@app/models';
import type { Answer } from '../conversation/conversation.decider';
import { CitationReader } from './citations';
import type { RetrievedPassage, Retriever } from './retriever';
import { sourceParts } from './source-parts';
import type { TurnEvent } from './turn';

/** What of an Agent its answers depend on. */
export interface AnsweringAgent {
  readonly agentId: string;
  readonly spaceId: string;
  /** Key of a chat model; null for the default one. */
  readonly model: string | null;
  readonly systemPrompt: string;
  readonly knowledgeEnabled: boolean;
  readonly sampling: Sampling;
}

/** A question with fewer telling words is understood from the one before. */
const TELLING_WORDS = 3;

/** How a caller ends an answer on purpose: what was said until then is kept. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** Answers one question: retrieves, calls the model, reads its citations. A failure is an answer too, with what was said before it. */
export class Answerer {
  constructor(
    private readonly models: Models,
    private readonly retriever: Retriever,
    private readonly currency: string,
    private readonly logger: { warn(facts: object, message: string): void },
  ) {}

  async answer(
    agent: AnsweringAgent,
    messages: readonly ChatMessage[],
    options: { readonly stream: boolean; readonly signal: AbortSignal },
    say: (event: TurnEvent) => void,
  ): Promise<Omit<Answer, 'type' | 'answerId'>> {
    const said = { text: '' };
    const tell = (delta: string): void => {
      if (delta === '') return;
      said.text += delta;
      say({ type: 'text', delta });
    };
    let request: ChatRequest | undefined;
    try {
      const { model, provider } = this.models.chat(agent.model);
      const passages = agent.knowledgeEnabled ? await this.retriever.retrieve(agent, searchText(messages), options.signal) : [];
      request = { model, system: agent.systemPrompt, messages, sources: passages.map(sourceOf), sampling: agent.sampling, signal: options.signal };
      const reader = new CitationReader(passages.length);
      for await (const chunk of options.stream ? provider.stream(request) : completed(provider, request)) {
        if (chunk.type === 'text') {
          tell(reader.push(chunk.text));
          continue;
        }
        tell(reader.end());
        const sources = sourceParts(said.text, reader.citations, passages);
        for (const part of sources) say({ type: 'source', part });
        const parts = [{ type: 'text' as const, text: said.text }, ...sources];
        return { parts, status: 'complete', finishReason: chunk.finishReason, model: model.key, usage: billed(chunk.usage, model.pricing, this.currency) };
      }
      throw new Error('the model stream has no end');
    } catch (error) {
      return this.unfinished(error, agent, said.text, request);
    }
  }

  private unfinished(error: unknown, agent: AnsweringAgent, text: string, request: ChatRequest | undefined): Omit<Answer, 'type' | 'answerId'> {
    const parts = text === '' ? [] : [{ type: 'text' as const, text }];
    const model = request?.model.key ?? agent.model ?? this.models.catalogue.defaultModel;
    const usage = request === undefined || text === '' ? null : billed(estimated(request, text), request.model.pricing, this.currency);
    if (error instanceof Stopped) return { parts, status: 'stopped', finishReason: 'other', model, usage };
    const errorCode = isDomainError(error) ? error.code : isUnavailable(error) ? 'unavailable' : 'internal';
    this.logger.warn({ agentId: agent.agentId, model, code: errorCode, ...(errorCode === 'internal' ? { error } : {}) }, 'an answer failed');
    return { parts, status: 'failed', finishReason: 'error', errorCode, model, usage };
  }
}

async function* completed(provider: ChatProvider, request: ChatRequest): AsyncIterable<ChatChunk> {
  const { text, finishReason, usage } = await provider.complete(request);
  yield { type: 'text', text };
  yield { type: 'finish', finishReason, usage };
}

const sourceOf = ({ documentName, headings, text }: RetrievedPassage, index: number) => ({ number: index + 1, title: documentName, headings, text });

/** What to search for: the question, with the one before where it says too little by itself. */
const searchText = (messages: readonly ChatMessage[]): string => {
  const questions = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const question = questions.at(-1) ?? '';
  const before = questions.at(-2);
  return before === undefined || termsOf(question).length >= TELLING_WORDS ? question : `${before}\n${question}`;
};

const estimated = ({ system, messages, sources }: ChatRequest, text: string) =>
  usageOf({ input: estimatedTokens([system, ...messages.map((message) => message.text), ...sources.map((source) => source.text)].join('\n')), output: estimatedTokens(text) });
