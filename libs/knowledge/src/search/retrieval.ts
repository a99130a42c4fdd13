import type { Scope, SearchHit, SearchIndex, SearchQuery } from '@app/search-index';
import type { LiveDocument } from '../document/document.decider';
import { type EmbeddingParts, embedMetered, type Payer, type TextsToEmbed } from '../embed-metered';
import type { ShownDocuments } from '../lookups';

/** Name of the search view over all Knowledge. */
export const PASSAGES = 'passages';
/** Name of the view that says which documents are Ready. */
export const DOCUMENTS = 'documents';

/** How often a search is repeated at most, while documents become Ready and others stop to be. */
const MOST_REPEATS = 5;

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

/** Whether an Agent searches, or searched, a document. */
export const isSearchedBy = (agent: SearchingAgent, document: Pick<LiveDocument, 'scope' | 'agentId' | 'spaceId'>) =>
  document.scope === 'agent'
    ? document.agentId === agent.agentId
    : document.scope === 'global' || document.spaceId === agent.spaceId;

/** Finds the passages that an Agent would answer from: of documents that are Ready, as the API shows them. */
export class Retrieval {
  constructor(
    private readonly index: Pick<SearchIndex, 'search'>,
    private readonly shown: ShownDocuments,
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
    return this.ofReady({
      scopes: scopesOf(agent),
      text,
      mode,
      limit,
      ...(vector === undefined ? {} : { vector: { model: model.key, values: Array.from(vector) } }),
      ...(model.vectorWeight === undefined ? {} : { vectorWeight: model.vectorWeight }),
      ...(tagIds === undefined ? {} : { tagIds }),
    });
  }
  /** The index also holds documents that are not Ready yet, or any more. They leave their places to the next best. */
  private async ofReady(query: SearchQuery): Promise<readonly SearchHit[]> {
    const passedOver = new Set<string>();
    for (let repeats = 0; ; repeats += 1) {
      const except = repeats === 0 ? {} : { exceptDocumentIds: [...passedOver] };
      const hits = await this.index.search(PASSAGES, { ...query, ...except });
      const ready = await this.shown.ready([...new Set(hits.map(({ documentId }) => documentId))]);
      const isReady = ({ documentId, documentRevision }: SearchHit): boolean =>
        ready.get(documentId) === documentRevision;
      if (hits.every(isReady) || repeats === MOST_REPEATS) return hits.filter(isReady);
      for (const hit of hits) if (!isReady(hit)) passedOver.add(hit.documentId);
      for (const documentId of await this.shown.unready(query.scopes)) passedOver.add(documentId);
    }
  }
}
