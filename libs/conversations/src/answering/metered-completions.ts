import { isDomainError, reject } from '@app/kernel';
import {
  type ChatProvider,
  type ChatRequest,
  isUpstreamFailure,
  requestTokens,
  textOfMessage,
  UpstreamFailure,
  upstreamRejection,
  usageOf,
} from '@app/models';
import { CallRecord, type Metering, RepeatedCall } from '@app/spending';
import type { Invocation } from '../conversation/checkpoint.events';
import type { AnsweringAgent, AnsweringModels } from './answering';
import { keptText } from './kept-text';
import type { Requester } from './retriever';

/** The caller, and the reservation for the call. */
export interface Paying {
  readonly agent: Pick<AnsweringAgent, 'agentId' | 'spaceId'>;
  readonly requester: Requester;
  /** Output tokens that are held. */
  readonly mostOutput: number;
  /** Somebody requested this very call. */
  readonly isAskedFor: boolean;
}

export interface Completed {
  readonly text: string;
  /** Key of the model that answered. */
  readonly model: string;
  /** The call that answered, after those that its provider broke off. */
  readonly invocations: readonly Invocation[];
}

/** How a text ends that is not whole. */
const CUT: ReadonlySet<string> = new Set(['length', 'content-filter']);

/**
 * Whole texts of chat models other than answers of Agents: summaries, titles and judgements. Each call is metered as a
 * separate invocation.
 */
export class MeteredCompletions {
  constructor(
    private readonly models: Pick<AnsweringModels, 'provider' | 'rates'>,
    private readonly metering: Metering,
    private readonly currency: string,
  ) {}

  /**
   * Removes characters that the log cannot store. Throws `usage_limit_exceeded`; `upstream_error`, also for an empty,
   * cut or filtered text; `upstream_timeout`; or the signal's reason.
   */
  async complete(
    request: ChatRequest,
    provider: Pick<ChatProvider, 'complete'>,
    { agent: { agentId, spaceId }, requester, mostOutput, isAskedFor }: Paying,
  ): Promise<Completed> {
    const { model, signal } = request;
    const { counted, most } = requestTokens(request, model);
    const begin = async (): Promise<CallRecord> => {
      const call = await this.metering.begin({
        userId: requester.userId,
        ...(requester.keyId === undefined ? {} : { keyId: requester.keyId }),
        agentId,
        spaceId,
        kind: 'chat',
        ...(isAskedFor ? { isAskedFor } : {}),
        model,
        mayAnswer: this.models.provider(model).mayAnswer(model),
        estimate: usageOf({ input: counted, output: mostOutput }),
        mostInput: most,
      });
      return new CallRecord(call, model, mostOutput, this.models.rates);
    };
    const input = usageOf({ input: counted });
    const calls = await RepeatedCall.begin(begin);
    try {
      signal.throwIfAborted();
      const answer = await provider.complete({ ...request, onBrokenOff: (failure) => calls.again(failure, input) });
      const record = calls.now;
      record.servedBy(answer.model);
      record.used({ usage: answer.usage, source: answer.usageSource });
      record.succeeded();
      const text = keptText(textOfMessage(answer)).trim();
      // One that was cut lacks what came last.
      if (text === '' || CUT.has(answer.finishReason)) return reject('upstream_error');
      const invocations = calls.all.map((each) => ({ id: each.id, usage: each.bill(this.currency) }));
      return { text, model: answer.model.key, invocations };
    } catch (error) {
      // A provider bills the input of its calls, even if the caller leaves.
      const left = new UpstreamFailure('aborted', { work: { model, ms: 0 } });
      calls.failed(signal.aborted && !isUpstreamFailure(error) ? left : error, input);
      if (signal.aborted) throw signal.reason;
      throw isDomainError(error) ? error : upstreamRejection(error);
    } finally {
      calls.settle();
    }
  }
}
