import type { Position } from '@app/kernel';
import type { Checkpoint } from '@app/read-store';
import type { estypes } from '@elastic/elasticsearch';
import type { IndexedDocument, Passage, Scope } from '../search-index';
import { checkpointId, documentKey, scopeId } from './index-names';
import {
  type CheckpointRecord,
  type DocumentRecord,
  passageIds,
  type PassageRecord,
  passageOf,
  type ScopeRecord,
} from './records';
import { type CallOptions, failureOfStatus, isRejection, type Server } from './server';

const CALL: CallOptions = { timeoutMs: 30_000, retryMs: 10_000 };
/** Records per read. A passage with its vectors has about 10 kB. */
const PAGE = 250;
/** Ids per read. */
const IDS_PAGE = 5_000;
/** Documents whose passages are asked for at once. */
const DOCUMENTS_AT_ONCE = 50_000;
const PRESENT: readonly estypes.QueryDslQueryContainer[] = [
  { term: { kind: 'document' } },
  { term: { removed: false } },
];

export interface StoredCheckpoint extends Checkpoint {
  readonly fence: number;
  /** The expected version for compare-and-set; undefined if nothing is stored yet. */
  readonly revision?: { readonly if_seq_no: number; readonly if_primary_term: number };
}

interface Got {
  readonly _id: string;
  readonly found?: boolean;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: unknown;
}

/** Reads the records of one version as last written, also those that searches do not see yet. */
export class IndexRecords {
  constructor(
    private readonly server: Server,
    /** Name of the version's index. */
    private readonly index: string,
  ) {}

  /** Undefined if the version is not prepared. */
  async checkpoint(slice: number): Promise<Checkpoint | undefined> {
    try {
      const { position, handled } = storedCheckpoint((await this.get([checkpointId(slice)]))[0]);
      return { position, handled };
    } catch (error) {
      if (isRejection(error, 404)) return undefined;
      throw error;
    }
  }

  /** Reads in one request all that folding a batch needs. */
  async read(
    slice: number,
    { documentIds, scopes }: { readonly documentIds: readonly string[]; readonly scopes: readonly Scope[] },
  ) {
    const [checkpoint, ...others] = await this.get([
      checkpointId(slice),
      ...documentIds.map(documentKey),
      ...scopes.map(scopeId),
    ]);
    const sources = others.flatMap(({ _source }) => (_source as DocumentRecord | ScopeRecord | undefined) ?? []);
    const documents = new Map(
      sources.flatMap((record) => (record.kind === 'document' ? [[record.documentId, record]] : [])),
    );
    return {
      checkpoint: storedCheckpoint(checkpoint),
      documents,
      removedScopes: positionsOf(sources.filter((record) => record.kind === 'scope')),
    };
  }

  async removedScopes(scopes: readonly Scope[]): Promise<ReadonlyMap<Scope, Position>> {
    const found = await this.get(scopes.map(scopeId));
    return positionsOf(found.flatMap(({ _source }) => (_source as ScopeRecord | undefined) ?? []));
  }

  /** Documents of a scope, as searches see them. */
  async *inScope(scope: Scope): AsyncGenerator<DocumentRecord> {
    for (let after: string | null = null; ;) {
      const found: readonly DocumentRecord[] = await this.documents(after, PAGE, [{ term: { scope } }]);
      yield* found;
      after = found.at(-1)?.documentId ?? null;
      if (found.length < PAGE) return;
    }
  }

  /** Documents by id, as searches see them, without removed ones. */
  async documents(
    afterId: string | null,
    limit: number,
    filter: readonly estypes.QueryDslQueryContainer[] = [],
  ): Promise<readonly DocumentRecord[]> {
    const { hits } = await this.server.call(CALL, (client, options) =>
      client.search<DocumentRecord>(
        {
          index: this.index,
          size: limit,
          sort: [{ documentId: 'asc' }],
          track_total_hits: false,
          allow_partial_search_results: false,
          query: { bool: { filter: [...PRESENT, ...filter] } },
          ...(afterId === null ? {} : { search_after: [afterId] }),
        },
        options,
      ),
    );
    return hits.hits.flatMap(({ _source }) => _source ?? []);
  }

  /** Reads records as searches see them. */
  async count(): Promise<{ readonly documents: number; readonly passages: number }> {
    const counted = async (...filter: readonly estypes.QueryDslQueryContainer[]): Promise<number> =>
      (
        await this.server.call(CALL, (client, options) =>
          client.count({ index: this.index, query: { bool: { filter: [...filter] } } }, options),
        )
      ).count;
    const [documents, passages] = await Promise.all([counted(...PRESENT), counted({ term: { kind: 'passage' } })]);
    return { documents, passages };
  }

  /** The ids of all passages of some documents, of every put, as searches see them. */
  async *passageIds(
    documentIds: readonly string[],
  ): AsyncGenerator<{ readonly id: string; readonly documentId: string }> {
    // The server takes 65,536 values in one condition; a scope that is removed may have more documents.
    for (let start = 0; start < documentIds.length; start += DOCUMENTS_AT_ONCE)
      yield* this.passageIdsOf(documentIds.slice(start, start + DOCUMENTS_AT_ONCE));
  }

  private async *passageIdsOf(
    documentIds: readonly string[],
  ): AsyncGenerator<{ readonly id: string; readonly documentId: string }> {
    for (let after: estypes.SortResults | undefined; ;) {
      const { hits } = await this.server.call(CALL, (client, options) =>
        client.search(
          {
            index: this.index,
            size: IDS_PAGE,
            sort: [{ documentId: 'asc' }, { put: 'asc' }, { chunkId: 'asc' }],
            track_total_hits: false,
            allow_partial_search_results: false,
            _source: false,
            query: { bool: { filter: [{ term: { kind: 'passage' } }, { terms: { documentId: [...documentIds] } }] } },
            ...(after === undefined ? {} : { search_after: after }),
          },
          options,
        ),
      );
      for (const { _id = '', sort = [] } of hits.hits) yield { id: _id, documentId: String(sort[0]) };
      after = hits.hits.at(-1)?.sort;
      if (hits.hits.length < IDS_PAGE) return;
    }
  }

  /** Reads the passages of each document, in the order of the documents. */
  async passages(documents: readonly DocumentRecord[]): Promise<readonly (readonly Passage[])[]> {
    const ids = documents.flatMap(({ documentId, document: { present } }) =>
      present === undefined ? [] : passageIds(documentId, present),
    );
    const passages = new Map(documents.map(({ documentId }) => [documentId, [] as Passage[]]));
    const puts = new Map(documents.map(({ documentId, document }) => [documentId, document.present?.put]));
    for (let start = 0; start < ids.length; start += PAGE) {
      const records = (await this.get(ids.slice(start, start + PAGE))).flatMap(
        ({ _source }) => (_source as PassageRecord | undefined) ?? [],
      );
      for (const record of records)
        if (record.put === puts.get(record.documentId)) passages.get(record.documentId)?.push(passageOf(record));
    }
    return documents.map(({ documentId }) => passages.get(documentId) ?? []);
  }

  /** Reads documents as the index holds them, a few at a time. */
  async *contents(documents: readonly DocumentRecord[]): AsyncGenerator<IndexedDocument> {
    for (const group of groups(documents)) {
      const passages = await this.passages(group);
      for (const [
        index,
        {
          documentId,
          document: { present },
        },
      ] of group.entries()) {
        if (present === undefined) continue;
        const { put: _, since: __, passages: ___, ownIds: ____, ...document } = present;
        yield {
          documentId,
          ...document,
          passages: (passages[index] ?? []).toSorted(
            (a, b) => a.ordinal - b.ordinal || (a.chunkId < b.chunkId ? -1 : 1),
          ),
        };
      }
    }
  }

  private async get(ids: readonly string[]): Promise<readonly Got[]> {
    if (ids.length === 0) return [];
    const { docs } = await this.server.call(CALL, (client, options) =>
      client.mget({ index: this.index, ids: [...ids], querystring: { _source_exclude_vectors: false } }, options),
    );
    return docs.map(readable);
  }
}

/** Groups documents so that each group has about `PAGE` passages. */
const groups = function* (documents: readonly DocumentRecord[]): Generator<readonly DocumentRecord[]> {
  let group: DocumentRecord[] = [];
  let passages = 0;
  for (const record of documents) {
    group.push(record);
    passages += record.document.present?.passages ?? 0;
    if (passages >= PAGE) {
      yield group;
      [group, passages] = [[], 0];
    }
  }
  yield group;
};

/** A record of an answer, found or not. Throws if the lookup failed. */
export const readable = <Record extends object>(record: Record | estypes.MgetMultiGetError): Record => {
  if (!('error' in record)) return record;
  const { type } = (record as estypes.MgetMultiGetError).error;
  throw failureOfStatus(type === 'index_not_found_exception' ? 404 : 503, type ?? 'without a type');
};

const storedCheckpoint = (got: Got | undefined): StoredCheckpoint => {
  const stored = (got?._source as CheckpointRecord | undefined)?.checkpoint;
  if (stored === undefined) return { position: null, handled: 0, fence: 0 };
  return { ...stored, revision: { if_seq_no: got?._seq_no ?? 0, if_primary_term: got?._primary_term ?? 0 } };
};

const positionsOf = (records: readonly ScopeRecord[]): Map<Scope, Position> =>
  new Map(records.map(({ scope, at }) => [scope, at]));
