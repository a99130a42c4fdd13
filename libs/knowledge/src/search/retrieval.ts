import type { Scope, SearchHit, SearchIndex } from '@app/search-index';
import { type EmbeddingParts, embedMetered, type Payer, type TextsToEmbed } from '../embed-metered';

/** Name of the search view over all Knowledge. */
export const PASSAGES = 'passages';

/** An Agent and its Space: what it may search. */
export interface SearchingAgent {
  readonly agentId: string;
  readonly spaceId: string;
}

export interface KnowledgeQuery {
  readonly text: string;
  readonly limit: number;
  readonly mode: 'hybrid' | 'text' | 'vector';
  /** Only documents that carry one of these tags. */
  readonly tagIds?: readonly string[];
}

/** Who searches, and whether the search reserves its cost. */
export type Searching = Pick<Payer, 'userId' | 'keyId'> & Pick<TextsToEmbed, 'signal' | 'holds'>;

/** The levels of Knowledge that an Agent sees: its own, its Space's, the instance's. */
export const scopesOf = ({ agentId, spaceId }: SearchingAgent): readonly Scope[] => [
  `a:${agentId}`,
  `s:${spaceId}`,
  'g',
];

/** Finds the passages that an Agent would answer from. */
export class Retrieval {
  constructor(
    private readonly index: SearchIndex,
    private readonly parts: EmbeddingParts,
  ) {}

  /** Throws `usage_limit_exceeded`. */
  async search(
    agent: SearchingAgent,
    { text, limit, mode, tagIds }: KnowledgeQuery,
    { signal, holds, ...asker }: Searching,
  ): Promise<readonly SearchHit[]> {
    const { agentId, spaceId } = agent;
    const embedding = this.parts.models.embedding();
    const { model } = embedding;
    const [vector] =
      mode === 'text'
        ? []
        : await embedMetered(this.parts, embedding, {
            texts: [text],
            purpose: 'query',
            signal,
            holds,
            payer: { ...asker, agentId, spaceId },
          });
    return this.index.search(PASSAGES, {
      scopes: scopesOf(agent),
      text,
      mode,
      limit,
      ...(vector === undefined ? {} : { vector: { model: model.key, values: Array.from(vector) } }),
      ...(model.vectorWeight === undefined ? {} : { vectorWeight: model.vectorWeight }),
      ...(tagIds === undefined ? {} : { tagIds }),
    });
  }
}
