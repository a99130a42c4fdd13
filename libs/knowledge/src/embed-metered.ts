import { isDomainError } from '@app/kernel';
import { type EmbeddingRequest, believedUsage, estimatedTokens, type Models, mostTokens, usageOf } from '@app/models';
import type { Metering, Settlement } from '@app/spending';

/** Whose limits a call of the embedding model counts against. */
export interface Payer {
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agentId?: string;
  readonly spaceId?: string;
}

export interface EmbeddingParts {
  readonly models: Pick<Models, 'embedding'>;
  readonly metering: Metering;
}

/** A model and who runs it, as they were when the work began that needs them. */
type Embedding = ReturnType<EmbeddingParts['models']['embedding']>;

export interface TextsToEmbed extends Pick<EmbeddingRequest, 'texts' | 'purpose' | 'signal'> {
  readonly payer: Payer;
  /** Whether its costs are to be held; otherwise it is counted and never refused, as what it belongs to is held under the same limits. */
  readonly holds: boolean;
}

/** Calls the embedding model of Knowledge, counted once. Throws `usage_limit_exceeded`. */
export const embedMetered = async (
  metering: Metering,
  { model, provider }: Embedding,
  { payer, holds, ...texts }: TextsToEmbed,
): Promise<readonly Float32Array[]> => {
  const counted = usageOf({ input: texts.texts.reduce((sum, text) => sum + estimatedTokens(text), 0) });
  const mostInput = texts.texts.reduce((sum, text) => sum + mostTokens(text), 0);
  const call = await metering.begin({
    ...payer,
    kind: 'embedding',
    model,
    ...(holds ? { estimate: counted, mostInput } : { estimate: usageOf({}) }),
  });
  if (texts.signal.aborted) {
    call.cancel();
    throw texts.signal.reason;
  }
  const startedAt = performance.now();
  let end: Pick<Settlement, 'usage' | 'usageSource' | 'outcome'> = {
    usage: usageOf({}),
    usageSource: 'counted',
    outcome: 'failed',
  };
  try {
    const { vectors, report } = await provider.embed({ model, ...texts });
    const believed = believedUsage(report, model, false);
    end = { usage: believed ?? counted, usageSource: believed === undefined ? 'counted' : 'upstream', outcome: 'ok' };
    return vectors;
  } catch (error) {
    // A provider that was asked bills its input, whoever leaves, and however long it takes.
    if (texts.signal.aborted || isDomainError(error, 'upstream_timeout'))
      end = { usage: counted, usageSource: 'counted', outcome: texts.signal.aborted ? 'aborted' : 'failed' };
    throw error;
  } finally {
    void call.settle({ model, ...end, latencyMs: Math.round(performance.now() - startedAt) });
  }
};
