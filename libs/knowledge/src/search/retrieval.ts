import type { Models } from '@app/models';
import type { Scope, SearchHit, SearchIndex } from '@app/search-index';

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

/** The levels of Knowledge that an Agent sees: its own, its Space's, the instance's. */
export const scopesOf = ({ agentId, spaceId }: SearchingAgent): readonly Scope[] => [`a:${agentId}`, `s:${spaceId}`, 'g'];

/** Finds the passages that an Agent would answer from. */
export class Retrieval {
  constructor(
    private readonly index: SearchIndex,
    private readonly models: Models,
  ) {}

  async search(agent: SearchingAgent, { text, limit, mode, tagIds }: KnowledgeQuery, signal: AbortSignal): Promise<readonly SearchHit[]> {
    const { model, provider } = this.models.embedding();
    const vector = mode === 'text' ? undefined : (await provider.embed({ model, texts: [text], purpose: 'query', signal }))[0];
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
