import { isDomainError, isUnavailable } from '@app/kernel';
import {
  callWindow,
  type ChatChunk,
  type ChatMessage,
  type ChatProvider,
  type ChatRequest,
  estimatedTokens,
  type InvocationUsage,
  isUpstreamFailure,
  type ModelDescription,
  type Models,
  mostTokens,
  type Provider,
  type Sampling,
  termsOf,
  type TokenUsage,
  upstreamRejection,
  usageOf,
} from '@app/models';
import { CallRecord, type MeteredCall, type Metering } from '@app/spending';
import type { Answer } from '../conversation/conversation.decider';
import { CitationReader } from './citations';
import type { Asker, Retrieved, RetrievedPassage, Retriever } from './retriever';
import { sourceParts } from './source-parts';
import type { TurnEvent } from './turn';

/** The part of an Agent that its answers depend on. */
export interface AnsweringAgent {
  readonly agentId: string;
  readonly spaceId: string;
  /** Key of a chat model; null for the default one. */
  readonly model: string | null;
  readonly systemPrompt: string;
  readonly knowledgeEnabled: boolean;
  readonly sampling: Sampling;
}

/** Tokens that are held for an answer beside its question and what was said before: for passages, and for what is said. */
const USUAL = { input: 8_000, output: 16_384 };

/** A question with fewer telling words is understood from the one before. */
const TELLING_WORDS = 3;

/** Stops an answer on purpose. The text until then is kept. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

/** What an Agent without Knowledge answers from. */
const NOTHING: Retrieved = { passages: [], degraded: [] };

/** What answers need of the models of the instance. */
export interface AnsweringModels extends Pick<Models, 'catalogue' | 'rates'> {
  chat(key: string | null): { readonly model: ModelDescription; readonly provider: ChatProvider };
  provider(model: ModelDescription): Pick<Provider, 'mayAnswer'>;
}

/** Answers one question: retrieves passages, calls the model, reads its citations. A failure is an answer too, with the text before it. */
export class Answerer {
  constructor(
    private readonly models: AnsweringModels,
    private readonly retriever: Retriever,
    private readonly currency: string,
    private readonly metering: Metering,
    private readonly logger: { warn(facts: object, message: string): void },
  ) {}

  /** Holds what an answer may cost; `history` is what was said before the question. Rejects `usage_limit_exceeded`; undefined for a model that is not there, which the answer will say. */
  async reserve(
    { agentId, spaceId, model: key, systemPrompt }: AnsweringAgent,
    { userId, keyId }: Asker,
    question: string,
    history: readonly ChatMessage[],
  ): Promise<MeteredCall | undefined> {
    const model = this.models.catalogue.models.get(key ?? this.models.catalogue.defaultModel);
    if (model?.kind !== 'chat') return undefined;
    const mayAnswer = this.models.provider(model).mayAnswer(model);
    const input = USUAL.input + estimatedTokens(systemPrompt) + estimatedTokens(question);
    const mostInput = Math.min(
      history.reduce(
        (sum, { text }) => sum + mostTokens(text),
        USUAL.input + mostTokens(systemPrompt) + mostTokens(question),
      ),
      callWindow(mayAnswer, input).input,
    );
    const estimate = usageOf({ input, output: USUAL.output });
    return this.metering.begin({
      userId,
      ...(keyId === undefined ? {} : { keyId }),
      agentId,
      spaceId,
      kind: 'chat',
      isAskedFor: true,
      model,
      mayAnswer,
      estimate,
      mostInput,
    });
  }

  /** `metered`: what `reserve` gave; it is settled here. */
  async answer(
    agent: AnsweringAgent,
    messages: readonly ChatMessage[],
    options: {
      readonly asker: Asker;
      readonly stream: boolean;
      readonly signal: AbortSignal;
      readonly metered: MeteredCall | undefined;
    },
    say: (event: TurnEvent) => void,
  ): Promise<Omit<Answer, 'type' | 'answerId'>> {
    const said = { text: '' };
    const tell = (delta: string): void => {
      if (delta === '') return;
      said.text += delta;
      say({ type: 'text', delta });
    };
    const { metered } = options;
    let request: ChatRequest | undefined;
    let record: CallRecord | undefined;
    let without: Pick<Answer, 'degraded'> = {};
    try {
      const { model, provider } = this.models.chat(agent.model);
      const { passages, degraded } = agent.knowledgeEnabled
        ? await this.retriever.retrieve(agent, searchText(messages), {
            ...options.asker,
            signal: options.signal,
            holds: metered?.isHeld !== true,
          })
        : NOTHING;
      if (degraded.length > 0) without = { degraded };
      request = {
        model,
        system: agent.systemPrompt,
        messages,
        sources: passages.map(sourceOf),
        sampling: agent.sampling,
        signal: options.signal,
      };
      const reader = new CitationReader(passages.length);
      // From here on the model may cost something.
      if (metered !== undefined) record = new CallRecord(metered, model, USUAL.output, this.models.rates);
      for await (const chunk of options.stream ? provider.stream(request) : completed(provider, request)) {
        if (chunk.type === 'text') {
          tell(reader.push(chunk.text));
          continue;
        }
        tell(reader.end());
        const sources = sourceParts(said.text, reader.citations, passages);
        for (const part of sources) say({ type: 'source', part });
        const parts = [{ type: 'text' as const, text: said.text }, ...sources];
        record?.servedBy(chunk.model);
        record?.used({ usage: chunk.usage, source: chunk.usageSource });
        if (chunk.pace !== undefined) record?.madeIn(chunk.pace.ms, chunk.pace.tokens);
        record?.succeeded();
        return {
          parts,
          status: 'complete',
          finishReason: chunk.finishReason,
          model: chunk.model.key,
          usage: record?.bill(this.currency) ?? null,
          ...without,
        };
      }
      throw new Error('the model stream has no end');
    } catch (error) {
      return { ...this.unfinished(error, agent, said.text, request, record), ...without };
    } finally {
      if (record === undefined) metered?.cancel();
      else record.settle();
    }
  }

  private unfinished(
    error: unknown,
    agent: AnsweringAgent,
    text: string,
    request: ChatRequest | undefined,
    record: CallRecord | undefined,
  ): Omit<Answer, 'type' | 'answerId'> {
    const parts = text === '' ? [] : [{ type: 'text' as const, text }];
    const isStopped = error instanceof Stopped || (isUpstreamFailure(error) && error.kind === 'aborted');
    const model =
      (isUpstreamFailure(error) ? error.facts.work?.model.key : undefined) ??
      request?.model.key ??
      agent.model ??
      this.models.catalogue.defaultModel;
    const usage = request === undefined ? null : this.unfinishedBill(error, isStopped, seenOf(request, text), record);
    if (isStopped) return { parts, status: 'stopped', finishReason: 'other', model, usage };
    const rejection = upstreamRejection(error);
    const errorCode = isDomainError(rejection) ? rejection.code : isUnavailable(rejection) ? 'unavailable' : 'internal';
    this.logger.warn(
      {
        agentId: agent.agentId,
        model,
        code: errorCode,
        ...(rejection === error && isDomainError(error) ? {} : { error }),
      },
      'Answer failed.',
    );
    return { parts, status: 'failed', finishReason: 'error', errorCode, model, usage };
  }

  /** A model that was at work bills what it made until it was left, or until its provider broke off; one that failed at once bills nothing. */
  private unfinishedBill(
    error: unknown,
    isStopped: boolean,
    seen: TokenUsage,
    record: CallRecord | undefined,
  ): InvocationUsage | null {
    if (record === undefined) return null;
    // A local model was stopped, or broke off, in the middle.
    const isSeen = !isUpstreamFailure(error) && (isStopped || seen.outputTokens > 0);
    if (isSeen) record.used({ usage: seen, source: 'counted' });
    if (isStopped) record.stopped();
    record.failed(error, seen);
    return isSeen || (isUpstreamFailure(error) && error.facts.work !== undefined) ? record.bill(this.currency) : null;
  }
}

async function* completed(provider: ChatProvider, request: ChatRequest): AsyncIterable<ChatChunk> {
  const { text, ...finish } = await provider.complete(request);
  yield { type: 'text', text };
  yield { type: 'finish', ...finish };
}

const sourceOf = ({ documentName, headings, text }: RetrievedPassage, index: number) => ({
  number: index + 1,
  title: documentName,
  headings,
  text,
});

/** What to search for: the question, with the one before where it says too little by itself. */
const searchText = (messages: readonly ChatMessage[]): string => {
  const questions = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const question = questions.at(-1) ?? '';
  const before = questions.at(-2);
  return before === undefined || termsOf(question).length >= TELLING_WORDS ? question : `${before}\n${question}`;
};

/** What was given and said. */
const seenOf = ({ system, messages, sources }: ChatRequest, text: string): TokenUsage =>
  usageOf({
    input: estimatedTokens(
      [system, ...messages.map((message) => message.text), ...sources.map((source) => source.text)].join('\n'),
    ),
    output: estimatedTokens(text),
  });
