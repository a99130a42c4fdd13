import { decimalAmount } from '@app/kernel';
import { costOf, type ModelDescription, usageOf } from '@app/models';
import type { SourceDocument } from '../lookups';
import type { BuildEstimate } from '../summary-index/summary-index.events';
import { FEWEST_IN_CLUSTER, MOST_IN_CLUSTER } from './clusters';
import type { Hierarchy } from './hierarchy';

/** Summaries that one call of the embedding model embeds. */
export const EMBEDDED_AT_ONCE = 16;
/** Tokens of a summary, as models are asked for them, and of what they are told beside the text. */
const SUMMARY_TOKENS = 200;
const PROMPT_TOKENS = 120;
/** Tokens of the headings that go with each chunk. */
const HEADING_TOKENS = 20;
/** Chunks of a section: 4 where each has a heading of its own, 7 where there are none. */
const CHUNKS_OF_SECTION = 5.5;
/** Members of a cluster, as bisecting leaves them. */
const MEMBERS_OF_CLUSTER = 5;
/** A summary that is new, or gone, changes its own cluster, and may leave it too small: its members join others. */
const CLUSTERS_TOUCHED = FEWEST_IN_CLUSTER;

/** About how many sections a document has with so many chunks. A single chunk is none: it is clustered as it is. */
export const likelySections = (chunks: number): number =>
  chunks < 2 ? 0 : Math.max(1, Math.round(chunks / CHUNKS_OF_SECTION));

/** About how many clusters so many items have, of one level after the other up to the root. */
export const likelyClusters = (items: number): readonly number[] => {
  const levels: number[] = [];
  for (let count = items; count > 1;) {
    count = count <= MOST_IN_CLUSTER ? 1 : Math.ceil(count / MEMBERS_OF_CLUSTER);
    levels.push(count);
  }
  return levels;
};

export interface ToEstimate {
  readonly documents: readonly Pick<
    SourceDocument,
    'documentId' | 'revision' | 'passages' | 'chunkCount' | 'tokenCount'
  >[];
  /** The index whose summaries are used again. */
  readonly before: Hierarchy;
  readonly chat: Pick<ModelDescription, 'pricing'>;
  readonly embedding: Pick<ModelDescription, 'pricing'>;
}

/** About what a build takes. A document that changed is taken to have changed in every section. */
export const estimateOf = ({ documents, before, chat, embedding }: ToEstimate): BuildEstimate => {
  const changed = documents.filter(
    ({ documentId, revision, passages }) =>
      before.documents[documentId] !== revision || before.passages[documentId] !== passages,
  );
  const now = new Set(documents.map(({ documentId }) => documentId));
  const anew = new Set(changed.map(({ documentId }) => documentId));
  const isTouched = (documentId: string): boolean => anew.has(documentId) || !now.has(documentId);
  const touchedBefore = before.nodes.filter(({ chunks }) => chunks.some(({ documentId }) => isTouched(documentId)));
  const isWhole = before.nodes.length === 0;

  const items = sum(documents, ({ chunkCount }) => Math.max(likelySections(chunkCount), Math.min(chunkCount, 1)));
  let touched = sum(changed, ({ chunkCount }) => likelySections(chunkCount) || 1) + touchedBefore.length;
  let summaries = sum(changed, ({ chunkCount }) => likelySections(chunkCount));
  let chatInput = sum(changed, ({ tokenCount, chunkCount }) => tokenCount + chunkCount * HEADING_TOKENS);
  let embeddings = 0;
  let embedded = 0;
  let below = { count: items, made: summaries };
  for (const clusters of likelyClusters(items)) {
    if (below.count > MOST_IN_CLUSTER) {
      embeddings += Math.ceil(below.made / EMBEDDED_AT_ONCE);
      embedded += below.made;
    }
    const made = isWhole ? clusters : Math.min(clusters, touched * CLUSTERS_TOUCHED);
    chatInput += Math.min(below.count, made * MOST_IN_CLUSTER) * (SUMMARY_TOKENS + HEADING_TOKENS);
    summaries += made;
    touched = made;
    below = { count: clusters, made };
  }
  const chatUsage = usageOf({ input: chatInput + summaries * PROMPT_TOKENS, output: summaries * SUMMARY_TOKENS });
  const embeddingUsage = usageOf({ input: embedded * SUMMARY_TOKENS });
  return {
    calls: summaries + embeddings,
    tokens: chatUsage.totalTokens + embeddingUsage.totalTokens,
    cost: decimalAmount(costOf(chatUsage, chat.pricing) + costOf(embeddingUsage, embedding.pricing)),
  };
};

const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((total, one) => total + of(one), 0);
