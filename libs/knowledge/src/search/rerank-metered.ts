import { estimatedTokens, type ModelDescription, mostTokens, type Provider, usageOf } from '@app/models';
import { callMetered, type MeteringParts, type Payer } from '../embed-metered';

/** A reranker and who runs it. */
export interface Reranker {
  readonly model: ModelDescription;
  readonly provider: Pick<Provider, 'rerank' | 'mayAnswer'>;
}

export interface TextsToRank {
  readonly query: string;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
  readonly payer: Payer;
  readonly holds: boolean;
}

/** How well each text answers the query, in order of the texts. Counted as the gateway counts it: a reranker reads the query with each text. Throws as `embedMetered` does. */
export const rerankMetered = async (
  parts: MeteringParts,
  { model, provider }: Reranker,
  { query, texts, signal, payer, holds }: TextsToRank,
): Promise<readonly number[]> => {
  const tokens = (count: (text: string) => number): number =>
    texts.reduce((sum, text) => sum + count(text), texts.length * count(query));
  const { scores } = await callMetered(parts, {
    kind: 'rerank',
    model,
    mayAnswer: provider.mayAnswer(model),
    counted: usageOf({ input: tokens(estimatedTokens) }),
    mostInput: usageOf({ input: tokens(mostTokens) }).inputTokens,
    payer,
    holds,
    signal,
    call: (onBrokenOff) => provider.rerank({ model, query, documents: texts, signal, onBrokenOff }),
  });
  return scores;
};
