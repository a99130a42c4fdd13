import type { Position } from '@app/kernel';
import type { Checkpoint } from '@app/read-store';
import type { estypes } from '@elastic/elasticsearch';
import type { IndexedDocument, Passage, Scope } from '../search-index';
import { checkpointId, documentKey, scopeId, slotId } from './index-names';
import { type CheckpointRecord, type DocumentRecord, type PassageRecord, passageOf, type ScopeRecord } from './records';
import { type CallOptions, failureOfStatus, isRejection, type Server } from './server';

const CALL: CallOptions = { timeoutMs: 30_000, retryMs: 10_000 };
/** Records read at once: passages with their vectors are some 10 kB each. */
const PAGE = 250;
const PRESENT: readonly estypes.QueryDslQueryContainer[] = [
  { term: { kind: 'document' } },
  { term: { removed: false } },
];

export interface StoredCheckpoint extends Checkpoint {
  readonly fence: number;
  /** What a compare-and-set expects; undefined where nothing was stored yet. */
  readonly revision?: { readonly if_seq_no: number; readonly if_primary_term: number };
}

interface Got {
  readonly _id: string;
  readonly found?: boolean;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: unknown;
}

/** Reads the records of one version as they were last written, also those that no search sees yet. */
export class IndexRecords {
  constructor(
    private readonly server: Server,
    /** Name of the version's index. */
    private readonly index: string,
  ) {}

  /** Undefined where the version is not prepared. */
  async checkpoint(slice: number): Promise<Checkpoint | undefined> {
    try {
      const { position, handled } = storedCheckpoint((await this.get([checkpointId(slice)]))[0]);
      return { position, handled };
    } catch (error) {
      if (isRejection(error, 404)) return undefined;
      throw error;
    }
  }

  /** All that a batch must know before it is folded, in one request. */
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

  /** Documents of a scope that a search sees. */
  async *inScope(scope: Scope): AsyncGenerator<DocumentRecord> {
    for (let after: string | null = null; ;) {
      const found: readonly DocumentRecord[] = await this.documents(after, PAGE, [{ term: { scope } }]);
      yield* found;
      after = found.at(-1)?.documentId ?? null;
      if (found.length < PAGE) return;
    }
  }

  /** Present documents that a search sees, by id. */
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

  /** What a search sees. */
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

  /** The passages of documents, by slot; each document stands for itself, in the order given. */
  async passages(documents: readonly DocumentRecord[]): Promise<readonly (readonly Passage[])[]> {
    const slots = documents.flatMap(({ documentId, document: { present } }) =>
      Array.from({ length: present?.passages ?? 0 }, (_, slot) => slotId(documentId, slot)),
    );
    const passages = new Map(documents.map(({ documentId }) => [documentId, [] as Passage[]]));
    const puts = new Map(documents.map(({ documentId, document }) => [documentId, document.present?.put]));
    for (let start = 0; start < slots.length; start += PAGE) {
      const records = (await this.get(slots.slice(start, start + PAGE))).flatMap(
        ({ _source }) => (_source as PassageRecord | undefined) ?? [],
      );
      for (const record of records)
        if (record.put === puts.get(record.documentId)) passages.get(record.documentId)?.push(passageOf(record));
    }
    return documents.map(({ documentId }) => passages.get(documentId) ?? []);
  }

  /** Documents as the index holds them; a few are read at a time. */
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
        const { put: _, since: __, passages: ___, ...document } = present;
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

/** Documents that have some `PAGE` passages together. */
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

/** A record of an answer, whether it is there or not; throws where it could not be looked for. */
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
