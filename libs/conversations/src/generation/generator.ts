import { CONFIG, type Config, dataKeyName, Decisions, reject, streamOf } from '@app/kernel';
import {
  callWindow,
  type ChatMessage,
  type ChatRequest,
  type ChatResult,
  type FinishReason,
  type InvocationUsage,
  isUpstreamFailure,
  type JsonSchema,
  Models,
  type Provider,
  requestTokens,
  type Sampling,
  textOfMessage,
  upstreamRejection,
  usageOf,
} from '@app/models';
import { CallRecord, type MeteredCall, type Metering, METERING, RepeatedCall } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import { usageSum } from '../answering/usage-sum';
import { searchText, sourceOf } from '../answering/sources';
import { documentKeysOf } from '../answering/document-copies';
import { CitationReader } from '../answering/citations';
import { Compactor } from '../answering/compactor';
import { keptText } from '../answering/kept-text';
import { type Requester, type RetrievedPassage, RETRIEVER, type Retriever } from '../answering/retriever';
import { sourceParts } from '../answering/source-parts';
import { attachmentDecider } from '../attachment/attachment.decider';
import { conversationDecider } from '../conversation/conversation.decider';
import type { SourceDocumentPart } from '../conversation/message-parts';

/** Tokens that are held for passages, and for an answer whose request names no most. */
const USUAL = { passages: 8_000, output: 16_384 };

/** What an Agent is asked to generate, outside of any conversation. */
export interface Generation {
  readonly agent: { readonly agentId: string; readonly spaceId: string; readonly systemPrompt: string };
  readonly requester: Requester;
  /** Key of a chat model. */
  readonly model: string;
  /** The last one is the user's. */
  readonly messages: readonly ChatMessage[];
  /** The files that the messages name. */
  readonly fileIds?: readonly string[];
  /** A conversation whose branch to its last message comes before the messages. Nothing is appended to it. */
  readonly conversationId?: string;
  readonly usesKnowledge: boolean;
  readonly sampling: Sampling;
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** Ends it at once; its provider bills what it made until then. */
  readonly signal: AbortSignal;
}

/** A text that an Agent generated outside of a conversation. */
export interface GeneratedText {
  readonly text: string;
  /** The model's reasoning; absent if its provider does not report it. */
  readonly reasoningText?: string;
  readonly finishReason: FinishReason;
  readonly sources: readonly SourceDocumentPart[];
  readonly usage: InvocationUsage;
  /** Key of the model that answered. */
  readonly model: string;
  readonly invocationId: string;
  /**
   * Names of the data keys of the messages, files and documents that it was made from: without one of them, nothing of
   * it may be stored.
   */
  readonly madeFrom: readonly string[];
}

/** The input of a model, and the names of the data keys of its content. */
type Shown = { readonly messages: readonly ChatMessage[] } & Pick<GeneratedText, 'madeFrom'>;

/**
 * One answer, with its input. `usage`: of the call that answered, and of those that its provider broke off;
 * `invocationId`: of the former.
 */
export interface GeneratedAnswer {
  readonly result: ChatResult;
  readonly passages: readonly RetrievedPassage[];
  readonly usage: InvocationUsage;
  readonly invocationId: string;
}

/**
 * Generates with an Agent's prompt and Knowledge. Each call has a reservation and counts once. Rejects `not_found` for
 * a conversation of another user or with another Agent, `usage_limit_exceeded`, `model_not_available`,
 * `unsupported_parameter` for one that the provider rejects, `upstream_error` and `upstream_timeout`; throws the
 * signal's reason if it was aborted.
 */
@Injectable()
export class Generator {
  constructor(
    private readonly decisions: Decisions,
    private readonly compactor: Compactor,
    private readonly models: Models,
    @Inject(RETRIEVER) private readonly retriever: Retriever,
    @Inject(METERING) private readonly metering: Metering,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Text, with the sources that it cites. */
  async text(generation: Generation): Promise<GeneratedText> {
    const { messages, madeFrom } = await this.messages(generation);
    const { result, passages, usage, invocationId } = await this.answer(generation, messages);
    const reader = new CitationReader(passages.length);
    const text = reader.push(keptText(textOfMessage(result))) + reader.end();
    const sources = sourceParts(text, reader.citations, passages);
    const thoughts = result.content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
    const reasoningText = keptText(thoughts.join('\n\n'));
    return {
      ...(reasoningText === '' ? {} : { reasoningText }),
      text,
      finishReason: result.finishReason,
      sources,
      usage,
      model: result.model.key,
      invocationId,
      madeFrom: [...madeFrom, ...documentKeysOf(passages)],
    };
  }

  /** The conversation's branch, and the messages. */
  async messages({ agent, requester, conversationId, model, messages, fileIds = [] }: Generation): Promise<Shown> {
    const files = fileIds.map((fileId) => streamOf(attachmentDecider.category, fileId));
    if (conversationId === undefined) return { messages, madeFrom: files };
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live' || state.userId !== requester.userId || state.agentId !== agent.agentId)
      return reject('not_found', { kind: 'conversation', id: conversationId });
    const shown = await this.compactor.shown(conversationId, { model });
    const stream = streamOf(conversationDecider.category, conversationId);
    return {
      messages: [...shown.messages, ...messages],
      madeFrom: [...shown.ids.map((id) => dataKeyName(stream, id)), ...files],
    };
  }

  /** One call. `passages`: the known ones; otherwise they are searched, if the Agent should. */
  async answer(
    generation: Generation,
    messages: readonly ChatMessage[],
    output?: { readonly name?: string; readonly schema: JsonSchema },
    passages?: readonly RetrievedPassage[],
  ): Promise<GeneratedAnswer> {
    const { agent, requester, usesKnowledge, sampling, maxOutputTokens, stopSequences, seed, signal } = generation;
    const { model, provider } = this.models.chat(generation.model);
    const searches = passages === undefined && usesKnowledge;
    const request: ChatRequest = {
      model,
      system: agent.systemPrompt,
      messages,
      sources: passages?.map(sourceOf) ?? [],
      sampling,
      ...(output === undefined ? {} : { output }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(stopSequences === undefined ? {} : { stopSequences }),
      ...(seed === undefined ? {} : { seed }),
      signal,
    };
    const reserve = () => this.reserve(generation, request, provider, searches ? USUAL.passages : 0);
    const { metered, most } = await reserve();
    let calls: RepeatedCall | undefined;
    let asked = request;
    try {
      signal.throwIfAborted();
      const found = searches
        ? (
            await this.retriever.retrieve(agent, searchText(messages), {
              ...requester,
              signal,
              holds: !metered.isHeld,
            })
          ).passages
        : (passages ?? []);
      asked = { ...request, sources: found.map(sourceOf) };
      const input = usageOf({ input: requestTokens(asked, model).counted });
      const recordOf = (call: MeteredCall) => new CallRecord(call, model, most, this.models.rates);
      const repeated = new RepeatedCall(recordOf(metered), async () => recordOf((await reserve()).metered));
      calls = repeated;
      const result = await provider.complete({ ...asked, onBrokenOff: (failure) => repeated.again(failure, input) });
      const record = calls.now;
      record.servedBy(result.model);
      record.used({ usage: result.usage, source: result.usageSource });
      if (result.pace !== undefined) record.madeIn(result.pace.ms, result.pace.tokens);
      record.succeeded();
      const usage = calls.all.map((each) => each.bill(this.config.DEFAULT_CURRENCY)).reduce(usageSum);
      return { result, passages: found, usage, invocationId: record.id };
    } catch (error) {
      if (signal.aborted) calls?.stopped();
      calls?.failed(error, usageOf({ input: requestTokens(asked, model).counted }));
      throw signal.aborted ? signal.reason : generationRejection(error);
    } finally {
      if (calls === undefined) metered.cancel();
      else calls.settle();
    }
  }

  private async reserve(
    { agent: { agentId, spaceId }, requester: { userId, keyId } }: Generation,
    request: ChatRequest,
    provider: Pick<Provider, 'mayAnswer'>,
    passages: number,
  ): Promise<{ readonly metered: MeteredCall; readonly most: number }> {
    const { model } = request;
    const mayAnswer = provider.mayAnswer(model);
    const tokens = requestTokens(request, model);
    const window = callWindow(mayAnswer, tokens.counted + passages);
    const most = Math.min(request.maxOutputTokens ?? USUAL.output, window.output);
    const metered = await this.metering.begin({
      userId,
      ...(keyId === undefined ? {} : { keyId }),
      agentId,
      spaceId,
      kind: 'chat',
      isAskedFor: true,
      model,
      mayAnswer,
      estimate: usageOf({ input: Math.min(tokens.counted + passages, window.input), output: most }),
      mostInput: Math.min(tokens.most + passages, window.input),
    });
    return { metered, most };
  }
}

type RenamedFields = Readonly<Record<string, string>>;

/** Names of fields upstream, and what a caller calls them. */
const FIELDS: RenamedFields = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  seed: 'seed',
  stop: 'stopSequences',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  response_format: 'schema',
};

/** The caller must change a parameter that the provider rejects; every other failure is the provider's. */
export const generationRejection = (error: unknown, fields: RenamedFields = FIELDS): unknown => {
  if (!isUpstreamFailure(error) || error.kind !== 'rejected') return upstreamRejection(error);
  const field = fields[error.facts.param?.split(/[.[]/, 1)[0] ?? ''];
  return field === undefined ? upstreamRejection(error) : reject('unsupported_parameter', { path: field });
};
