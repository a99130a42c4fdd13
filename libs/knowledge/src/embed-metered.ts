import {
  type EmbeddingProvider,
  type EmbeddingRequest,
  estimatedTokens,
  isUpstreamFailure,
  type ModelDescription,
  mostTokens,
  type Models,
  type Provider,
  UpstreamFailure,
  upstreamRejection,
  usageOf,
} from '@app/models';
import { CallRecord, type Metering } from '@app/spending';

/** Whose limits a call of the embedding model counts against. */
export interface Payer {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
}

/** A model and who runs it, as they were when the work began that needs them. */
interface Embedding {
  readonly model: ModelDescription;
  readonly provider: EmbeddingProvider & Pick<Provider, 'mayAnswer'>;
}

export interface EmbeddingParts {
  readonly models: Pick<Models, 'rates'> & { embedding(): Embedding };
  readonly metering: Metering;
}

export interface TextsToEmbed extends Pick<EmbeddingRequest, 'texts' | 'signal'> {
  readonly purpose: NonNullable<EmbeddingRequest['purpose']>;
  readonly payer: Payer;
  /** Whether its costs are to be held; otherwise it is counted and never rejected, as what it belongs to is held under the same limits. */
  readonly holds: boolean;
}

/**
 * Calls the embedding model of Knowledge, counted once however often it is retried. Throws `usage_limit_exceeded`, `upstream_error`,
 * `upstream_timeout`, or the signal's reason if it was aborted.
 */
export const embedMetered = async (
  { models, metering }: EmbeddingParts,
  { model, provider }: Embedding,
  { payer, holds, ...texts }: TextsToEmbed,
): Promise<readonly Float32Array[]> => {
  const counted = usageOf({ input: texts.texts.reduce((sum, text) => sum + estimatedTokens(text), 0) });
  const mostInput = texts.texts.reduce((sum, text) => sum + mostTokens(text), 0);
  const call = await metering.begin({
    ...payer,
    kind: 'embedding',
    model,
    mayAnswer: provider.mayAnswer(model),
    ...(holds ? { estimate: counted, mostInput } : { estimate: usageOf({}) }),
  });
  if (texts.signal.aborted) {
    call.cancel();
    throw texts.signal.reason;
  }
  const record = new CallRecord(call, model, 0, models.rates);
  try {
    const embedded = await provider.embed({ model, ...texts });
    record.servedBy(embedded.model);
    record.used({ usage: embedded.usage ?? counted, source: embedded.usage === undefined ? 'counted' : 'upstream' });
    record.succeeded();
    // As those for Knowledge are.
    return embedded.vectors as readonly Float32Array[];
  } catch (error) {
    const isLeft = texts.signal.aborted;
    // A provider that was asked bills its input, whoever leaves.
    const left = new UpstreamFailure('aborted', { work: { model, ms: 0 } });
    record.failed(isLeft && !isUpstreamFailure(error) ? left : error, counted);
    throw isLeft ? texts.signal.reason : upstreamRejection(error);
  } finally {
    record.settle();
  }
};
