import { setTimeout as pause } from 'node:timers/promises';
import { placeOf, Unavailable } from '@app/kernel';
import type { estypes } from '@elastic/elasticsearch';
import { type Candidate, candidatesFor, type Found, fused, inOrder, isCutInTie, MAX_CANDIDATES } from '../fusion';
import { withCodesJoined } from '../language/joined';
import { askedCodes, askedWords } from '../language/terms';
import type { Scope, SearchHit, SearchQuery } from '../search-index';
import { documentKey, vectorField } from './index-names';
import { readable } from './index-records';
import type { DocumentRecord, PassageRecord, PresentDocument } from './records';
import { type CallOptions, isRejection, type Server } from './server';

const CALL: CallOptions = { timeoutMs: 5_000, retryMs: 1_000 };
/** Neighbours that the graph of vectors is walked for at least: more finds nearer ones, at a cost. */
const MIN_WALKED = 200;
const MAX_WALKED = 10_000;
/** Twice as many are taken by their rough vectors as are ranked by the exact ones. */
const OVERSAMPLE = 2;

/** Values in one condition: the server takes 65,536. */
const MOST_TERMS = 50_000;

/** How long a search waits, and how often, to read again where documents are put anew while it reads: it would miss them. */
const PAUSES_MS = [0, 0, 50, 100, 200, 400, 400, 400, 400];

/** Passages of a put that its document does not stand at: of the one before, or of one that is being written. */
interface OtherPut {
  readonly documentId: string;
  readonly put: string;
}

type Filter = estypes.QueryDslQueryContainer[];

interface RankedHit extends Found<string> {
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
      let others: readonly OtherPut[] = [];
      for (let repeats = 0; ; repeats += 1) {
        const filter = filterOf(query, others);
        const [byText, byVector] = await Promise.all([
          this.byText(query, wanted, filter),
          this.byVector(query, wanted, filter),
        ]);
        const found = new Map([...byText, ...byVector].map((hit) => [hit.id, hit]));
        const candidates = fused(byText, byVector, query).slice(0, query.limit);
        const read = await this.hits(candidates, found, query, others);
        const pauseMs = read.isOvertaken ? PAUSES_MS[repeats] : undefined;
        if (pauseMs === undefined) return read.hits;
        others = read.others;
        await pause(pauseMs);
      }
    });
  }

  async scopesWith({ scopes, text }: Pick<SearchQuery, 'scopes' | 'text'>): Promise<readonly Scope[]> {
    const spellings = [...new Set([text, withCodesJoined(text)])].map((spelling) => askedWords(spelling).join(' '));
    return this.onLive(async () => {
      if (spellings[0] === '' || scopes.length === 0) return this.assertLive().then(() => []);
      const { aggregations } = await this.server.call(CALL, (client, options) =>
        client.search<unknown, { readonly scopes: { readonly buckets: readonly { readonly key: Scope }[] } }>(
          {
            index: this.alias,
            size: 0,
            query: {
              bool: {
                filter: [
                  oneOf('scope', scopes),
                  { dis_max: { queries: spellings.flatMap((query) => inBoth({ query, operator: 'and' })) } },
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
  private async byText(asked: SearchQuery, wanted: number, filter: Filter): Promise<readonly RankedHit[]> {
    const words = asked.mode === 'vector' ? [] : askedWords(asked.text);
    if (words.length === 0) return this.assertLive();
    const query = [...words, ...askedCodes(asked.text)].join(' ');
    return this.ranked(wanted, {
      bool: {
        filter,
        must: [{ dis_max: { queries: inBoth({ query }) } }],
      },
    });
  }

  /** Nearest first. Fetches more if the limit falls into a tie. */
  private async byVector(query: SearchQuery, wanted: number, filter: Filter): Promise<readonly RankedHit[]> {
    const { vector, mode } = query;
    if (mode === 'text' || vector === undefined) return [];
    const nearest = async (k: number): Promise<readonly RankedHit[]> => {
      const hits = await this.ranked(k, {
        knn: {
          field: vectorField(vector.model, vector.values.length),
          query_vector: [...vector.values],
          k,
          num_candidates: Math.min(Math.max(MIN_WALKED, k * 2), MAX_WALKED),
          rescore_vector: { oversample: OVERSAMPLE },
          filter,
        },
      });
      return hits.map((hit) => ({ ...hit, value: cosineDistance(-hit.value) }));
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
  private async assertLive(): Promise<readonly RankedHit[]> {
    await this.server.call(CALL, (client, options) => client.indices.getAlias({ name: this.alias }, options));
    return [];
  }

  private async ranked(
    size: number,
    query: NonNullable<estypes.QueryDslQueryContainer>,
  ): Promise<readonly RankedHit[]> {
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
   * `isOvertaken`: that was among what was found, or was passed over and is what its document stands at now. The search is then made again,
   * and passes over `others`.
   */
  private async hits(
    candidates: readonly Candidate<string>[],
    found: ReadonlyMap<string, RankedHit>,
    query: SearchQuery,
    passed: readonly OtherPut[],
  ): Promise<{
    readonly hits: readonly SearchHit[];
    readonly isOvertaken: boolean;
    readonly others: readonly OtherPut[];
  }> {
    const named = [
      ...candidates.map(({ id }) => found.get(id)?.documentId ?? ''),
      ...passed.map((put) => put.documentId),
    ];
    if (named.length === 0) return { hits: [], isOvertaken: false, others: [] };
    const sources = await this.sources([...candidates.map(({ id }) => id), ...new Set(named.map(documentKey))]);
    const presentOf = (documentId: string): PresentDocument | undefined =>
      (sources.get(documentKey(documentId)) as DocumentRecord | undefined)?.document.present;
    const others = new Map(
      passed
        .filter(({ documentId, put }) => presentOf(documentId)?.put !== put)
        .map((other) => [`${other.documentId}/${other.put}`, other]),
    );
    let isOvertaken = others.size < passed.length;
    const hits = candidates.flatMap(({ id, textRank, vectorRank, score }) => {
      const hit = found.get(id);
      const passage = sources.get(id) as PassageRecord | undefined;
      const present = presentOf(hit?.documentId ?? '');
      if (hit === undefined || present === undefined || !query.scopes.includes(present.scope)) return [];
      const { chunkId, documentId, put } = hit;
      if (present.put !== put) others.set(`${documentId}/${put}`, { documentId, put });
      if (passage?.text === undefined || passage.put !== put || present.put !== put) {
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
          documentId,
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
    return { hits, isOvertaken, others: [...others.values()] };
  }
}

/** A match of the words as English and as German. */
const inBoth = (asked: estypes.QueryDslMatchQuery): estypes.QueryDslQueryContainer[] => [
  { match: { body: asked } },
  { match: { 'body.german': asked } },
];

/** From the score that the server makes of an inner product, whose vectors have unit length. */
const cosineDistance = (score: number): number => (score >= 1 ? 2 - score : 1 / score);

/** Any of some values, however many. */
const oneOf = (field: string, values: readonly string[]): estypes.QueryDslQueryContainer => {
  if (values.length <= MOST_TERMS) return { terms: { [field]: [...values] } };
  const should = Array.from({ length: Math.ceil(values.length / MOST_TERMS) }, (_, part) =>
    oneOf(field, values.slice(part * MOST_TERMS, (part + 1) * MOST_TERMS)),
  );
  return { bool: { should, minimum_should_match: 1 } };
};

/** Filters passages by scopes, and by documents and tags if named. Disabled passages have neither words nor vectors. */
const filterOf = (
  { scopes, documentIds, exceptDocumentIds, tagIds }: SearchQuery,
  others: readonly OtherPut[],
): Filter => [
  oneOf('scope', scopes),
  ...(documentIds === undefined ? [] : [oneOf('documentId', documentIds)]),
  ...(exceptDocumentIds === undefined ? [] : [{ bool: { must_not: [oneOf('documentId', exceptDocumentIds)] } }]),
  ...(tagIds === undefined ? [] : [oneOf('tagIds', tagIds)]),
  ...others.map(({ documentId, put }) => ({
    bool: { must_not: [{ bool: { filter: [{ term: { documentId } }, { term: { put } }] } }] },
  })),
];
