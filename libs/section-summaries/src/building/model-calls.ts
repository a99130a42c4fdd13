import { isDomainError, reject } from '@app/kernel';
import {
  type ChatRequest,
  type ChatSource,
  estimatedTokens,
  isUpstreamFailure,
  type ModelDescription,
  type ModelRequest,
  mostTokens,
  type Provider,
  textOfMessage,
  type TokenUsage,
  UpstreamFailure,
  upstreamRejection,
  usageOf,
  userText,
  type Models,
} from '@app/models';
import { CallRecord, type Metering, RepeatedCall } from '@app/spending';
import { LONGEST_SUMMARY } from '../section-summary/section-summary.events';

/** Output that is held for a call: models that think put out more than a summary has. */
const MOST_OUTPUT = 2_048;
/** Longest input of a call, characters: what is longer is cut, each source alike. */
const LONGEST_INPUT = 32_000;

const INSTRUCTIONS =
  'You write summaries for the index of a library. Summarise the sources in at most 120 words of plain prose, in their language. ' +
  'Say what they are about and the facts that matter most: names, numbers, rules. Add nothing, and no introduction.';
const QUESTION = 'Summarise these sources.';

/** Whose limits the calls of a build count against. */
export interface Payer {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId: string;
  readonly spaceId: string;
}

type Caller = Pick<Provider, 'complete' | 'embed' | 'mayAnswer'>;

export interface ModelCallParts {
  readonly models: Pick<Models, 'rates'> & {
    chat(key: string | null): { readonly model: ModelDescription; readonly provider: Caller };
    embedding(): { readonly model: ModelDescription; readonly provider: Caller };
  };
  readonly metering: Metering;
}

/** What is summarised: a chunk, or a summary of the level below. */
export type SummarySource = Pick<ChatSource, 'title' | 'headings' | 'text'>;

/** What of an answer is kept: no event holds NUL or half a letter. */
export const keptSummary = (said: string): string =>
  said.replaceAll('\0', '').trim().slice(0, LONGEST_SUMMARY).toWellFormed();

/** The calls that a build makes. Each holds its cost, and is counted once. They throw `usage_limit_exceeded`, `upstream_error`, `upstream_timeout`, `model_not_available`, or the signal's reason if it was aborted. */
export class ModelCalls {
  constructor(
    private readonly parts: ModelCallParts,
    private readonly payer: Payer,
    private readonly signal: AbortSignal,
  ) {}

  /** A summary of some sources by a chat model. */
  async summary(key: string, sources: readonly SummarySource[]): Promise<string> {
    const { model, provider } = this.parts.models.chat(key);
    const most = Math.floor(LONGEST_INPUT / Math.max(1, sources.length));
    const request: ChatRequest = {
      model,
      task: 'summary',
      system: INSTRUCTIONS,
      messages: [userText(QUESTION)],
      sources: sources.map(({ title, headings, text }, index) => ({
        number: index + 1,
        title,
        headings,
        text: text.slice(0, most).toWellFormed(),
      })),
      sampling: {},
      signal: this.signal,
    };
    const said = [
      INSTRUCTIONS,
      QUESTION,
      ...request.sources.flatMap(({ title, headings, text }) => [title, ...headings, text]),
    ];
    const text = await this.metered('chat', { model, provider }, said, MOST_OUTPUT, async (calls, counted) => {
      const onBrokenOff: ModelRequest['onBrokenOff'] = (failure) => calls.again(failure, counted);
      const answer = await provider.complete({ ...request, onBrokenOff });
      const record = calls.now;
      record.servedBy(answer.model);
      record.used({ usage: answer.usage, source: answer.usageSource });
      return keptSummary(textOfMessage(answer));
    });
    return text === '' ? reject('upstream_error') : text;
  }

  /** The key of the embedding model, as it is now. */
  get embeddingModel(): string {
    return this.parts.models.embedding().model.key;
  }

  /** Vectors of texts, of length one. */
  embeddings(texts: readonly string[]): Promise<readonly Float32Array[]> {
    const embedding = this.parts.models.embedding();
    const { model, provider } = embedding;
    return this.metered('embedding', embedding, texts, 0, async (calls, counted) => {
      const onBrokenOff: ModelRequest['onBrokenOff'] = (failure) => calls.again(failure, counted);
      const embedded = await provider.embed({ model, texts, purpose: 'passage', signal: this.signal, onBrokenOff });
      const record = calls.now;
      record.servedBy(embedded.model);
      record.used({ usage: embedded.usage ?? counted, source: embedded.usage === undefined ? 'counted' : 'upstream' });
      // As those for Knowledge are.
      return embedded.vectors as readonly Float32Array[];
    });
  }

  private async metered<T>(
    kind: 'chat' | 'embedding',
    { model, provider }: { readonly model: ModelDescription; readonly provider: Caller },
    texts: readonly string[],
    output: number,
    make: (calls: RepeatedCall, counted: TokenUsage) => Promise<T>,
  ): Promise<T> {
    const { models, metering } = this.parts;
    const counted = usageOf({ input: texts.reduce((sum, text) => sum + estimatedTokens(text), 0) });
    const begin = async (): Promise<CallRecord> => {
      const call = await metering.begin({
        ...this.payer,
        kind,
        model,
        mayAnswer: provider.mayAnswer(model),
        estimate: usageOf({ input: counted.inputTokens, output }),
        mostInput: texts.reduce((sum, text) => sum + mostTokens(text), 0),
      });
      if (this.signal.aborted) {
        call.cancel();
        throw this.signal.reason;
      }
      return new CallRecord(call, model, output, models.rates);
    };
    const calls = await RepeatedCall.begin(begin);
    try {
      const made = await make(calls, counted);
      calls.now.succeeded();
      return made;
    } catch (error) {
      const isLeft = this.signal.aborted;
      // A provider that was asked bills its input, whoever leaves.
      const left = new UpstreamFailure('aborted', { work: { model, ms: 0 } });
      calls.failed(isLeft && !isUpstreamFailure(error) ? left : error, counted);
      if (isLeft) throw this.signal.reason;
      throw isDomainError(error) ? error : upstreamRejection(error);
    } finally {
      calls.settle();
    }
  }
}
