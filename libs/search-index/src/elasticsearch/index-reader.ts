import { setTimeout as pause } from 'node:timers/promises';
import { placeOf, Unavailable } from '@app/kernel';
import type { estypes } from '@elastic/elasticsearch';
import { type Candidate, candidatesFor, type Found, fused, inOrder, isCutInTie, MAX_CANDIDATES } from '../fusion';
import { askedWords } from '../language/terms';
import type { Scope, SearchHit, SearchQuery } from '../search-index';
import { documentKey, vectorField } from './index-names';
import { readable } from './index-records';
import type { DocumentRecord, PassageRecord } from './records';
import { type CallOptions, isRejection, type Server } from './server';

const CALL: CallOptions = { timeoutMs: 5_000, retryMs: 1_000 };
/** Neighbours that the graph of vectors is walked for at least: more finds nearer ones, at a cost. */
const MIN_WALKED = 200;
const MAX_WALKED = 10_000;
/** Twice as many are taken by their rough vectors as are ranked by the exact ones. */
const OVERSAMPLE = 2;

/** How long a search waits, and how often, for documents that are put anew while it reads: it would miss them. */
const PAUSES_MS = [0, 50, 100, 200, 400];

interface Leg extends Found<string> {
  readonly documentId: string;
  readonly put: string;
  readonly value: number;
}

/** Searches the live version of an index. */
export class IndexReader {
  constructor(
    private readonly server: Server,
    private readonly alias: string,
    private readonly index: string,
  ) {}

  async search(query: SearchQuery): Promise<readonly SearchHit[]> {
    if (query.scopes.length === 0 || query.limit < 1) return [];
    const wanted = candidatesFor(query.limit);
    return this.onLive(async () => {
      for (let repeats = 0; ; repeats += 1) {
        const [byText, byVector] = await Promise.all([this.byText(query, wanted), this.byVector(query, wanted)]);
        const found = new Map([...byText, ...byVector].map((leg) => [leg.id, leg]));
        const { hits, isOvertaken } = await this.hits(
          fused(byText, byVector, query).slice(0, query.limit),
          found,
          query,
        );
        const pauseMs = isOvertaken ? PAUSES_MS[repeats] : undefined;
        if (pauseMs === undefined) return hits;
        await pause(pauseMs);
      }
    });
  }

  async scopesWith({ scopes, text }: Pick<SearchQuery, 'scopes' | 'text'>): Promise<readonly Scope[]> {
    const query = askedWords(text).join(' ');
    const all = { query, operator: 'and' as const };
    return this.onLive(async () => {
      if (query === '' || scopes.length === 0) return this.assertLive().then(() => []);
      const { aggregations } = await this.server.call(CALL, (client, options) =>
        client.search<unknown, { readonly scopes: { readonly buckets: readonly { readonly key: Scope }[] } }>(
          {
            index: this.alias,
            size: 0,
            query: {
              bool: {
                filter: [
                  { terms: { scope: [...scopes] } },
                  { dis_max: { queries: [{ match: { body: all } }, { match: { 'body.german': all } }] } },
                ],
              },
            },
            aggs: { scopes: { terms: { field: 'scope', size: scopes.length } } },
            track_total_hits: false,
            allow_partial_search_results: false,
          },
          options,
        ),
      );
      return (aggregations?.scopes.buckets ?? []).map(({ key }) => key);
    });
  }

  async revisionOf(documentId: string): Promise<number | undefined> {
    return this.onLive(async () => {
      const document = (await this.sources([documentKey(documentId)])).get(documentKey(documentId)) as
        DocumentRecord | undefined;
      return document?.document.present?.revision;
    });
  }

  /** Matches in English or German, whichever fits a passage better: words are indexed in both. */
  private async byText(query: SearchQuery, wanted: number): Promise<readonly Leg[]> {
    const words = query.mode === 'vector' ? [] : askedWords(query.text);
    if (words.length === 0) return this.assertLive();
    const asked = { query: words.join(' ') };
    return this.leg(wanted, {
      bool: {
        filter: filterOf(query),
        must: [{ dis_max: { queries: [{ match: { body: asked } }, { match: { 'body.german': asked } }] } }],
      },
    });
  }

  /** Nearest first. Fetches more if the limit falls into a tie. */
  private async byVector(query: SearchQuery, wanted: number): Promise<readonly Leg[]> {
    const { vector, mode } = query;
    if (mode === 'text' || vector === undefined) return [];
    const nearest = async (k: number): Promise<readonly Leg[]> => {
      const legs = await this.leg(k, {
        knn: {
          field: vectorField(vector.model, vector.values.length),
          query_vector: [...vector.values],
          k,
          num_candidates: Math.min(Math.max(MIN_WALKED, k * 2), MAX_WALKED),
          rescore_vector: { oversample: OVERSAMPLE },
          filter: filterOf(query),
        },
      });
      return legs.map((leg) => ({ ...leg, value: cosineDistance(-leg.value) }));
    };
    let limit = wanted + 1;
    let found = await nearest(limit);
    while (isCutInTie(found, wanted, limit)) {
      limit = Math.min(limit * 2, MAX_CANDIDATES);
      found = await nearest(limit);
    }
    return inOrder(found).slice(0, wanted);
  }

  /** Reads records as searches see them, without later writes. */
  private async sources(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const { docs } = await this.server.call(CALL, (client, options) =>
      client.mget({ index: this.alias, ids: [...ids], realtime: false }, options),
    );
    return new Map(docs.map(readable).map(({ _id, _source }) => [_id, _source]));
  }

  private async onLive<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isRejection(error, 404)) throw new Unavailable('search', `index ${this.index} has no live version yet`);
      throw error;
    }
  }

  /** Tells an index that was never served from one without results. */
  private async assertLive(): Promise<readonly Leg[]> {
    await this.server.call(CALL, (client, options) => client.indices.getAlias({ name: this.alias }, options));
    return [];
  }

  private async leg(size: number, query: NonNullable<estypes.QueryDslQueryContainer>): Promise<readonly Leg[]> {
    const { hits } = await this.server.call(CALL, (client, options) =>
      client.search(
        {
          index: this.alias,
          size,
          query,
          sort: [{ _score: { order: 'desc' } }, { chunkId: 'asc' }],
          _source: false,
          docvalue_fields: ['documentId', 'put'],
          track_total_hits: false,
          allow_partial_search_results: false,
        },
        options,
      ),
    );
    return hits.hits.map(({ _id = '', sort = [], fields = {} }) => {
      const { documentId: [documentId = ''] = [], put: [put = ''] = [] } = fields as {
        documentId?: string[];
        put?: string[];
      };
      return { id: _id, chunkId: String(sort[1]), value: -Number(sort[0]), documentId, put };
    });
  }

  /**
   * Reads what is shown, with its document: what is not of the put that the document stands at, or not of a scope asked for, is not shown.
   * `isOvertaken`: a document was put anew meanwhile, or is half written, and would be missed with what it had and has.
   */
  private async hits(
    candidates: readonly Candidate<string>[],
    found: ReadonlyMap<string, Leg>,
    query: SearchQuery,
  ): Promise<{ readonly hits: readonly SearchHit[]; readonly isOvertaken: boolean }> {
    if (candidates.length === 0) return { hits: [], isOvertaken: false };
    let isOvertaken = false;
    const documents = new Set(candidates.map(({ id }) => documentKey(found.get(id)?.documentId ?? '')));
    const ids = [...candidates.map(({ id }) => id), ...documents];
    const sources = await this.sources(ids);
    const hits = candidates.flatMap(({ id, chunkId, textRank, vectorRank, score }) => {
      const leg = found.get(id);
      const passage = sources.get(id) as PassageRecord | undefined;
      const document = sources.get(documentKey(leg?.documentId ?? '')) as DocumentRecord | undefined;
      const present = document?.document.present;
      if (present === undefined || !query.scopes.includes(present.scope)) return [];
      if (passage?.text === undefined || passage.put !== leg?.put || present.put !== leg.put) {
        isOvertaken = true;
        return [];
      }
      const {
        text,
        headings = [],
        place: { ordinal, start, end, ...place },
      } = passage;
      return [
        {
          documentId: leg.documentId,
          documentName: present.name,
          documentRevision: present.revision,
          scope: present.scope,
          chunkId,
          ordinal,
          text,
          headings,
          start,
          end,
          ...placeOf(place),
          score,
          textRank,
          vectorRank,
        },
      ];
    });
    return { hits, isOvertaken };
  }
}

/** From the score that the server makes of an inner product, whose vectors have unit length. */
const cosineDistance = (score: number): number => (score >= 1 ? 2 - score : 1 / score);

/** Filters passages by scopes, and by documents and tags if named. Disabled passages have neither words nor vectors. */
const filterOf = ({
  scopes,
  documentIds,
  exceptDocumentIds,
  tagIds,
}: SearchQuery): estypes.QueryDslQueryContainer[] => [
  { terms: { scope: [...scopes] } },
  ...(documentIds === undefined ? [] : [{ terms: { documentId: [...documentIds] } }]),
  ...(exceptDocumentIds === undefined
    ? []
    : [{ bool: { must_not: [{ terms: { documentId: [...exceptDocumentIds] } }] } }]),
  ...(tagIds === undefined ? [] : [{ terms: { tagIds: [...tagIds] } }]),
];
