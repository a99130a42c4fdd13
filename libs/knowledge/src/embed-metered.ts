import {
  type EmbeddingProvider,
  type EmbeddingRequest,
  estimatedTokens,
  isUpstreamFailure,
  type ModelDescription,
  type ModelRequest,
  mostTokens,
  type Models,
  type Provider,
  type TokenUsage,
  UpstreamFailure,
  upstreamRejection,
  usageOf,
} from '@app/models';
import { CallRecord, type Metering, RepeatedCall } from '@app/spending';

/** Whose limits a call of the embedding model counts against. */
export interface Payer {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
}

/** A model and who runs it, as they were when the work began that needs them. */
export interface Embedding {
  readonly model: ModelDescription;
  readonly provider: EmbeddingProvider & Pick<Provider, 'mayAnswer'>;
}

/** A call of a model by Knowledge, and how it is counted if its provider reports nothing. */
interface KnowledgeCall<Answer> {
  readonly kind: 'embedding' | 'rerank';
  readonly model: ModelDescription;
  readonly mayAnswer: readonly ModelDescription[];
  readonly counted: TokenUsage;
  /** The most tokens that it may be billed for. */
  readonly mostInput: number;
  readonly payer: Payer;
  /**
   * Whether to reserve its costs. Otherwise it is counted and never rejected, because the work that it belongs to has a
   * reservation under the same limits.
   */
  readonly holds: boolean;
  readonly signal: AbortSignal;
  call(onBrokenOff: NonNullable<ModelRequest['onBrokenOff']>): Promise<Answer>;
}

export interface MeteringParts {
  readonly models: Pick<Models, 'rates'>;
  readonly metering: Metering;
}

export interface EmbeddingParts extends MeteringParts {
  readonly models: Pick<Models, 'rates'> & { embedding(): Embedding };
}

/** Of a change of the embedding model: what documents have vectors of until they are re-indexed. */
export interface EmbeddingModels {
  embedding(): Embedding;
  otherEmbeddings(): readonly Embedding[];
}

/** A model of vectors, and its provider; undefined if it is no longer configured. */
export const embeddingOf = (models: EmbeddingModels, key: string | null): Embedding | undefined =>
  [models.embedding(), ...models.otherEmbeddings()].find(({ model }) => model.key === key);

export interface TextsToEmbed extends Pick<EmbeddingRequest, 'texts' | 'inDocument' | 'signal'> {
  readonly purpose: NonNullable<EmbeddingRequest['purpose']>;
  readonly payer: Payer;
  /** See `KnowledgeCall`. */
  readonly holds: boolean;
}

/**
 * Calls the embedding model of Knowledge. Retries count as one call, but each attempt that broke off counts separately.
 * Throws `usage_limit_exceeded`, `upstream_error`, `upstream_timeout`, or the signal's reason if it was aborted.
 */
export const embedMetered = async (
  parts: MeteringParts,
  { model, provider }: Embedding,
  { payer, holds, ...texts }: TextsToEmbed,
): Promise<readonly Float32Array[]> => {
  const { vectors } = await callMetered(parts, {
    kind: 'embedding',
    model,
    mayAnswer: provider.mayAnswer(model),
    counted: usageOf({ input: texts.texts.reduce((sum, text) => sum + estimatedTokens(text), 0) }),
    mostInput: texts.texts.reduce((sum, text) => sum + mostTokens(text), 0),
    payer,
    holds,
    signal: texts.signal,
    call: (onBrokenOff) => provider.embed({ model, ...texts, onBrokenOff }),
  });
  // As those for Knowledge are.
  return vectors as readonly Float32Array[];
};

/** Makes a call and settles it. Throws as `embedMetered` does. */
export const callMetered = async <Answer extends { readonly model: ModelDescription; readonly usage?: TokenUsage }>(
  { models, metering }: MeteringParts,
  { kind, model, mayAnswer, counted, mostInput, payer, holds, signal, call }: KnowledgeCall<Answer>,
): Promise<Answer> => {
  const begin = async (): Promise<CallRecord> => {
    const begun = await metering.begin({
      ...payer,
      kind,
      model,
      mayAnswer,
      ...(holds ? { estimate: counted, mostInput } : { estimate: usageOf({}) }),
    });
    if (signal.aborted) {
      begun.cancel();
      throw signal.reason;
    }
    return new CallRecord(begun, model, 0, models.rates);
  };
  const calls = await RepeatedCall.begin(begin);
  try {
    const answer = await call((failure) => calls.again(failure, counted));
    const record = calls.now;
    record.servedBy(answer.model);
    record.used({ usage: answer.usage ?? counted, source: answer.usage === undefined ? 'counted' : 'upstream' });
    record.succeeded();
    return answer;
  } catch (error) {
    const isLeft = signal.aborted;
    // A provider bills the input of its calls, even if the caller leaves.
    const left = new UpstreamFailure('aborted', { work: { model, ms: 0 } });
    calls.failed(isLeft && !isUpstreamFailure(error) ? left : error, counted);
    throw isLeft ? signal.reason : upstreamRejection(error);
  } finally {
    calls.settle();
  }
};
