import { canonicalJson, type Chunking, decimalAmount } from '@app/kernel';
import { costOf, type ModelDescription, usageOf } from '@app/models';
import type { Scope } from '@app/search-index';
import { TEXTS_IN_CALL } from '../ingestion/embed-passages';
import type { IndexedFacts } from '../lookups';
import { INSTANCE, type ReindexPlan } from './reindex.decider';
import type { ReindexEstimate } from './reindex.events';

/** What passages shall be: `chunking` undefined keeps the chunks as they are. */
export interface WantedPassages {
  readonly embeddingModel: string;
  readonly chunking: Chunking | null | undefined;
}

/** Tokens of a chunk of a hundred words, about. */
const TOKENS_BY_DEFAULT = 130;

type Place = Pick<ReindexPlan, 'scope' | 'agentId' | 'spaceId'>;

/** The id of the stream of the jobs of a place. */
export const reindexId = ({ scope, agentId, spaceId }: Place): string =>
  (scope === 'agent' ? agentId : scope === 'space' ? spaceId : null) ?? INSTANCE;

/** The level of Knowledge that a job is about; null: all. */
export const levelOf = ({ scope, agentId, spaceId }: Place): Scope | null =>
  scope === 'instance' ? null : scope === 'agent' ? `a:${agentId}` : `s:${spaceId}`;

export const isCutAnew = (chunking: Chunking | null, wanted: WantedPassages): boolean =>
  wanted.chunking !== undefined && canonicalJson(chunking) !== canonicalJson(wanted.chunking);

/** Whether passages are not what they shall be. */
export const isDue = (
  { chunking, model }: { readonly chunking: Chunking | null; readonly model: string | null },
  wanted: WantedPassages,
): boolean => model !== wanted.embeddingModel || isCutAnew(chunking, wanted);

/** What re-indexing costs at most, where every passage is embedded: those that stay equal under the same model are not. */
export const estimateOf = async (
  pages: AsyncIterable<readonly IndexedFacts[]>,
  wanted: WantedPassages,
  { pricing }: Pick<ModelDescription, 'pricing'>,
): Promise<{ readonly documents: number; readonly estimate: ReindexEstimate }> => {
  let documents = 0;
  let calls = 0;
  let tokens = 0;
  for await (const page of pages)
    for (const facts of page) {
      if (!isDue(facts, wanted)) continue;
      const chunks = isCutAnew(facts.chunking, wanted) ? chunksOf(facts.tokenCount, wanted.chunking ?? null) : facts;
      documents += 1;
      calls += Math.ceil(chunks.chunkCount / TEXTS_IN_CALL);
      tokens += chunks.tokenCount;
    }
  const cost = decimalAmount(costOf(usageOf({ input: tokens }), pricing));
  return { documents, estimate: { calls, tokens, cost } };
};

const chunksOf = (tokens: number, chunking: Chunking | null) => {
  const { maxTokens, overlapTokens } = chunking ?? { maxTokens: TOKENS_BY_DEFAULT, overlapTokens: 0 };
  const chunkCount = Math.max(1, Math.ceil(tokens / (maxTokens - overlapTokens)));
  return { chunkCount, tokenCount: tokens + (chunkCount - 1) * overlapTokens };
};
