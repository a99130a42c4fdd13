import { setImmediate } from 'node:timers/promises';
import { Unavailable } from '@app/kernel';
import { LOCAL, type ModelDescription } from '@app/models';
import type { Scope, SearchHit, SearchIndex, SearchQuery } from '@app/search-index';
import type { LiveDocument } from '../document/document.decider';
import { type Embedding, type EmbeddingParts, embedMetered, type Payer, type TextsToEmbed } from '../embed-metered';
import { embeddedText } from '../ingestion/passages';
import type { ShownDocuments } from '../lookups';
import { ModelUnavailable, inTime } from './model-unavailable';
import { codesOf, LEAST_FOUND_OF_CODES, withCodesFirst } from './codes';
import { type Context, contextsOf, type RankedHit } from './contexts';
import { type LiveModels, SearchedModels } from './live-models';
import { type Reranker, rerankMetered } from './rerank-metered';

/** Name of the search view over all Knowledge. */
export const PASSAGES = 'passages';
/** Name of the view that says which documents are Ready. */
export const DOCUMENTS = 'documents';

/** Contexts that an answer is made from, and that a search shows unless told otherwise. */
export const PLACES = 8;

/** How often a search is repeated at most, while documents become Ready and others stop to be. */
const MOST_REPEATS = 5;
/** So many passages are found for each place, at least `LEAST_FOUND`: neighbours share a place, documents make room for others, and a reranker chooses. */
const OVERFETCH = 2;
const LEAST_FOUND = 32;
/** So many of them a reranker is given at most: its calls take, and cost, the more. */
const MOST_RERANKED = 100;

/** An Agent and its Space: what it may search. */
export interface SearchingAgent {
  readonly agentId: string;
  readonly spaceId: string;
}

/** What Knowledge is asked; `limit`: most passages. */
export interface KnowledgeQuery {
  readonly text: string;
  readonly limit: number;
  readonly mode: 'hybrid' | 'text' | 'vector';
  /** Only documents that carry one of these tags. */
  readonly tagIds?: readonly string[];
  /** Whether what is found is ranked by the configured reranker; by default where that is not the local one. */
  readonly rerank?: boolean;
}

/** What a search goes on without while its model does not answer. */
export type Degraded = 'vector' | 'rerank';

/** A context with the media type of its document. */
export interface Retrieved extends Context {
  readonly mediaType: string;
}

/** What Knowledge found, and what it had to do without. */
export interface RetrievalResult {
  /** Best first. */
  readonly items: readonly Retrieved[];
  /** Empty where every model answered. */
  readonly degraded: readonly Degraded[];
}

/** What `Retrieval` searches with. */
export interface RetrievalParts extends EmbeddingParts {
  readonly models: EmbeddingParts['models'] & {
    readonly reranker: ModelDescription;
    otherEmbeddings(): readonly Embedding[];
    provider(model: ModelDescription): Reranker['provider'];
  };
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

/**
 * Finds what an Agent answers from: contexts of documents that are Ready, as the API shows them. Searches of users and of
 * answers are made by it alike. Where the embedder or the reranker does not answer in time, it goes on without.
 */
export class Retrieval {
  private readonly searched: SearchedModels;

  constructor(
    private readonly index: Pick<SearchIndex, 'search' | 'prefetch'>,
    private readonly shown: ShownDocuments,
    private readonly parts: RetrievalParts,
  ) {
    this.searched = new SearchedModels(parts.models, shown);
  }

  /** Throws `usage_limit_exceeded`, and `Unavailable` for the mode `vector` without its embedder and for an index that is away. */
  async search(agent: SearchingAgent, query: KnowledgeQuery, searching: Searching): Promise<RetrievalResult> {
    const { text, mode, limit, tagIds } = query;
    const degraded: Degraded[] = [];
    const scopes = scopesOf(agent);
    const wanted = Math.max(LEAST_FOUND, limit * OVERFETCH);
    const live = mode === 'text' ? NO_MODELS : await this.searched.at(scopes);
    const words: SearchQuery = {
      scopes,
      text,
      mode,
      limit: codesOf(text).length > 0 ? Math.max(LEAST_FOUND_OF_CODES, wanted) : wanted,
      ...(tagIds === undefined ? {} : { tagIds }),
    };
    const embedding = this.vectorsOf(live.embeddings, text, payerOf(agent, searching), searching.signal);
    if (mode === 'hybrid') void this.prefetch(words, embedding);
    const vectors = await embedding;
    if (live.isOneGone || vectors.length < live.embeddings.length) {
      if (mode === 'vector' && vectors.length === 0)
        throw new Unavailable('embedding', 'the model does not answer', 'none');
      degraded.push('vector');
    }
    const reranker = this.parts.models.reranker;
    const rerank = query.rerank ?? reranker.provider !== LOCAL;
    const found = await this.byEach(vectors, words);
    const best = mode === 'vector' ? found.hits : withCodesFirst(text, found.hits);
    let ranked: readonly RankedHit[] = best.slice(0, wanted);
    if (rerank && ranked.length > 0) {
      const again = await this.reranked(reranker, text, ranked, payerOf(agent, searching), searching.signal);
      if (again instanceof ModelUnavailable) degraded.push('rerank');
      else ranked = again;
    }
    const items = contextsOf(ranked, limit).map((context) => ({
      ...storable(context),
      mediaType: found.ready.get(context.documentId)?.mediaType ?? '',
    }));
    return { items, degraded };
  }

  /**
   * Looks up the words while the query is embedded. The embedder is called first, because waking the index's thread
   * would delay it.
   */
  private async prefetch(words: SearchQuery, embedding: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = (): void => void (isOver = true);
    embedding.then(over, over);
    await setImmediate();
    // If this fails, the search does the same again and fails with it: only the head start is lost.
    if (!isOver) await this.index.prefetch?.(PASSAGES, words).catch(() => undefined);
  }

  /** The query's vectors, of the models that answer in time. */
  private async vectorsOf(
    embeddings: readonly Embedding[],
    text: string,
    paying: Paying,
    caller: AbortSignal,
  ): Promise<readonly QueryVector[]> {
    const made = await Promise.all(
      embeddings.map(async (embedding) => {
        const values = await inTime(caller, (signal) => this.embedded(embedding, text, paying, signal));
        const { key: model, vectorWeight } = embedding.model;
        if (values instanceof ModelUnavailable) return [];
        return [{ vector: { model, values: values.slice() }, ...(vectorWeight === undefined ? {} : { vectorWeight }) }];
      }),
    );
    return made.flat();
  }

  /** Searches once for each model that there are vectors of; usually there is one. A document has vectors of one model alone. */
  private async byEach(vectors: readonly QueryVector[], query: SearchQuery) {
    const [first = {}, ...others] = vectors;
    if (others.length === 0) return this.ofReady({ ...query, ...first });
    const byOthers = () => Promise.all(others.map((vector) => this.ofReady({ ...query, ...vector })));
    // A document that is swapped, or rolled back, between two queries would be missed by both.
    const all = [...(await byOthers()), await this.ofReady({ ...query, ...first }), ...(await byOthers())];
    const best = new Map<string, SearchHit>();
    for (const hit of all.flatMap(({ hits }) => hits))
      if ((best.get(hit.chunkId)?.score ?? -1) < hit.score) best.set(hit.chunkId, hit);
    const hits = [...best.values()].toSorted((a, b) => b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1));
    return { hits: hits.slice(0, query.limit), ready: new Map(all.flatMap(({ ready }) => [...ready])) };
  }

  private async embedded(
    embedding: Embedding,
    text: string,
    { holds, ...payer }: Paying,
    signal: AbortSignal,
  ): Promise<Float32Array> {
    const vectors = await embedMetered(this.parts, embedding, {
      texts: [text],
      purpose: 'query',
      signal,
      holds,
      payer,
    });
    return vectors[0] as Float32Array;
  }

  /** The hits in the reranker's order; those that it is not given follow as they were. */
  private async reranked(
    model: ModelDescription,
    query: string,
    hits: readonly SearchHit[],
    { holds, ...payer }: Paying,
    caller: AbortSignal,
  ): Promise<readonly RankedHit[] | ModelUnavailable> {
    const reranker = { model, provider: this.parts.models.provider(model) };
    const given = hits.slice(0, MOST_RERANKED);
    const scores = await inTime(caller, (signal) =>
      rerankMetered(this.parts, reranker, { query, texts: given.map(readText), signal, holds, payer }),
    );
    return scores instanceof ModelUnavailable
      ? scores
      : inOrderOf(model.provider === LOCAL ? halved(scores, given) : scores, given, hits.slice(given.length));
  }

  /** The index also holds documents that are not Ready. The next best hits take their places. */
  private async ofReady(query: SearchQuery) {
    const passedOver = new Set<string>();
    for (let repeats = 0; ; repeats += 1) {
      const except = repeats === 0 ? {} : { exceptDocumentIds: [...passedOver] };
      const hits = await this.index.search(PASSAGES, { ...query, ...except });
      const ready = await this.shown.ready([...new Set(hits.map(({ documentId }) => documentId))]);
      const isReady = ({ documentId, documentRevision }: SearchHit): boolean =>
        ready.get(documentId)?.revision === documentRevision;
      if (hits.every(isReady) || repeats === MOST_REPEATS) return { hits: hits.filter(isReady), ready };
      for (const hit of hits) if (!isReady(hit)) passedOver.add(hit.documentId);
      for (const documentId of await this.shown.unready(query.scopes)) passedOver.add(documentId);
    }
  }
}

/** Earlier versions, and files, cut texts in the middle of a letter: no event could hold what cites them. */
const storable = (context: Context): Context => ({
  ...context,
  text: context.text.toWellFormed(),
  headings: context.headings.map((heading) => heading.toWellFormed()),
  ...(context.sheet === undefined ? {} : { sheet: context.sheet.toWellFormed() }),
  chunks: context.chunks.map((chunk) => ({ ...chunk, text: chunk.text.toWellFormed() })),
});

const NO_MODELS: LiveModels = { embeddings: [], isOneGone: false };

/** What a query searches one model's vectors by. */
type QueryVector = Pick<SearchQuery, 'vector' | 'vectorWeight'>;

interface Paying extends Payer {
  readonly holds: boolean;
}

const payerOf = ({ agentId, spaceId }: SearchingAgent, { userId, keyId, holds }: Searching): Paying => ({
  userId,
  ...(keyId === undefined ? {} : { keyId }),
  agentId,
  spaceId,
  holds,
});

/** The text of a passage for a reranker: as it is embedded, with its place. */
const readText = ({ documentName, headings, text }: SearchHit): string =>
  embeddedText(documentName, { headings, text });

/** The local reranker counts words and knows less than the search: its score and that of the search count half each. */
const halved = (scores: readonly number[], hits: readonly SearchHit[]): readonly number[] => {
  const best = hits[0]?.score || 1;
  return scores.map((score, index) => (score + (hits[index] as SearchHit).score / best) / 2);
};

/** Hits by descending scores, with ties in their order, then the rest. Scores outside 0 to 1 are log-odds. */
const inOrderOf = (
  scores: readonly number[],
  hits: readonly SearchHit[],
  rest: readonly SearchHit[],
): readonly RankedHit[] => {
  const areShares = scores.every((score) => score >= 0 && score <= 1);
  const ranked = hits
    .map((hit, index) => ({ ...hit, score: scores[index] as number }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ score, ...hit }, index): RankedHit => ({
      ...hit,
      score: areShares ? score : 1 / (1 + Math.exp(-score)),
      rerankRank: index + 1,
    }));
  const least = ranked.at(-1)?.score ?? 0;
  const first = rest[0]?.score ?? 0;
  return [...ranked, ...rest.map((hit) => ({ ...hit, score: first === 0 ? 0 : (least * hit.score) / first }))];
};
