import { setImmediate } from 'node:timers/promises';
import { DomainError, Unavailable } from '@app/kernel';
import { type EmbeddingRequest, OutputRates, type Provider, type RerankRequest } from '@app/models';
import type { SearchHit, SearchQuery } from '@app/search-index';
import type { Metering } from '@app/spending';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { TEST_MODEL } from '../../../../test/fixtures/spending';
import { type KnowledgeQuery, Retrieval } from './retrieval';

const agent = { agentId: 'a', spaceId: 's' };
const asking = { userId: 'u', holds: true, signal: new AbortController().signal };
const VECTOR = [Float32Array.of(1, 0)];

interface Given {
  readonly indexed: Readonly<Record<string, number>>;
  readonly readyAt?: Readonly<Record<string, number>>;
  readonly waiting?: readonly string[];
  readonly embed?: (request: EmbeddingRequest) => Promise<readonly Float32Array[]>;
  readonly rerank?: (request: RerankRequest) => Promise<readonly number[]>;
  readonly reranker?: 'local' | 'remote';
  readonly metering?: Metering;
  /** Models other than the configured one that documents have vectors of. */
  readonly others?: readonly string[];
  readonly configured?: readonly string[];
  /** Of what model a document has vectors when the index is asked for the `asked`th time; of every one by default. */
  readonly modelAt?: (asked: number) => string;
  readonly headings?: readonly string[];
  /** Whether it fails to look up words beforehand. */
  readonly isIndexDown?: boolean;
}

/** An index of documents with a passage each, best first, each at a revision. */
const retrievalOver = (given: Given) => {
  const { indexed, readyAt = indexed, waiting = [], metering = unmetered } = given;
  const asked: SearchQuery[] = [];
  const prefetched: SearchQuery[] = [];
  const search = async (_: string, query: SearchQuery): Promise<readonly SearchHit[]> => {
    asked.push(query);
    return Object.entries(indexed)
      .filter(([documentId]) => query.exceptDocumentIds?.includes(documentId) !== true)
      .filter(() => given.modelAt === undefined || given.modelAt(asked.length) === query.vector?.model)
      .slice(0, query.limit)
      .map(
        ([documentId, documentRevision], index) =>
          ({
            documentId,
            documentName: `${documentId}.md`,
            documentRevision,
            chunkId: documentId,
            ordinal: 0,
            text: documentId,
            headings: given.headings ?? ['Heading'],
            score: 1 / (index + 1),
          }) as SearchHit,
      );
  };
  const shown = {
    ready: async (ids: readonly string[]) =>
      new Map(
        Object.entries(readyAt)
          .filter(([id]) => ids.includes(id))
          .map(([id, revision]) => [id, { revision, mediaType: 'text/markdown' }]),
      ),
    models: async () => [TEST_MODEL.key, ...(given.others ?? [])],
    hasModel: async (model: string) => given.others?.includes(model) === true,
    unready: async () => waiting,
  };
  const provider: Pick<Provider, 'embed' | 'rerank' | 'mayAnswer'> = {
    embed: async (request) => ({ model: TEST_MODEL, vectors: (await given.embed?.(request)) ?? VECTOR }),
    rerank: async (request) => ({ model: TEST_MODEL, scores: (await given.rerank?.(request)) ?? [] }),
    mayAnswer: () => [],
  };
  const models = {
    rates: new OutputRates(),
    embedding: () => ({ model: TEST_MODEL, provider }),
    otherEmbeddings: () => (given.configured ?? []).map((key) => ({ model: { ...TEST_MODEL, key }, provider })),
    reranker: { ...TEST_MODEL, provider: given.reranker ?? 'local' },
    provider: () => provider,
  };
  const prefetch = async (_: string, query: SearchQuery): Promise<void> => {
    prefetched.push(query);
    if (given.isIndexDown === true) throw new Unavailable('search', 'away', 'none');
  };
  const retrieval = new Retrieval({ search, prefetch }, shown, { models, metering });
  const searched = async (query: Partial<KnowledgeQuery> = {}, searching = asking) => {
    const { items, degraded } = await retrieval.search(
      agent,
      { text: 'words', limit: 8, mode: 'hybrid', ...query },
      searching,
    );
    return { found: items.map(({ documentId }) => documentId), items, degraded };
  };
  const found = async (limit: number) => (await searched({ limit, mode: 'text' })).found;
  return { asked, prefetched, found, searched };
};

const many = Array.from({ length: 100 }, (_, index) => `d${index}`);
const each = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, 2]));

describe('what an Agent would answer from', () => {
  it('is of documents that are Ready, with the passages that they became Ready with', async () => {
    const { asked, found } = retrievalOver({
      indexed: { left: 2, ready: 2, early: 8, gone: 2 },
      readyAt: { ready: 2, early: 4 },
    });
    expect([await found(8), asked.length]).toEqual([['ready'], 2]);
  });

  it('asks the index once where that is up to date', async () => {
    const { asked, found } = retrievalOver({ indexed: { one: 2, two: 2 } });
    expect([await found(8), asked.length]).toEqual([['one', 'two'], 1]);
  });

  it('begins with what has the codes of the query, of more passages than usual', async () => {
    const codes = Array.from({ length: 100 }, (_, index) => `v1.${index}`);
    const { asked, found, searched } = retrievalOver({ indexed: each(codes) });
    expect(await found(2)).toEqual(['v1.0', 'v1.1']);
    expect((await searched({ text: 'v1.7', limit: 2, mode: 'text' })).found[0]).toBe('v1.7');
    expect((await searched({ text: 'v1.7', limit: 2, mode: 'vector' })).found[0]).toBe('v1.0');
    expect(asked.map(({ limit }) => limit)).toEqual([32, 128, 128]);
  });

  it('has its words looked up while the query is embedded', async () => {
    const before: SearchQuery[] = [];
    const given = retrievalOver({
      indexed: { one: 2 },
      embed: async () => {
        expect(given.prefetched).toEqual([]);
        await setImmediate();
        before.push(...given.prefetched);
        return VECTOR;
      },
      isIndexDown: true,
    });
    expect((await given.searched()).found).toEqual(['one']);
    const { vector: _, vectorWeight: __, ...words } = given.asked[0] as SearchQuery;
    expect(before).toEqual([words]);
  });

  it('is looked for once where its vector is there at once', async () => {
    const { asked, prefetched, searched } = retrievalOver({ indexed: { one: 2 } });
    await searched();
    await setImmediate();
    expect([prefetched, asked.length]).toEqual([[], 1]);
  });

  it.each(['text', 'vector'] as const)('is looked for once in the mode %s', async (mode) => {
    const { prefetched, searched } = retrievalOver({ indexed: { one: 2 } });
    await searched({ mode });
    expect(prefetched).toEqual([]);
  });

  it('is found however many documents before it are not Ready', async () => {
    const { asked, found } = retrievalOver({
      indexed: { ...each(many), ready: 2 },
      readyAt: { ready: 2 },
      waiting: many,
    });
    expect([await found(1), asked.length]).toEqual([['ready'], 2]);
  });

  it('ends where an index does not stop to offer what is not Ready', async () => {
    const endless = Array.from({ length: 1_000 }, (_, index) => `d${index}`);
    const { asked, found } = retrievalOver({ indexed: each(endless), readyAt: {} });
    expect([await found(2), asked.length]).toEqual([[], 6]);
  });

  it('says the media type of each document', async () =>
    expect((await retrievalOver({ indexed: { one: 2 } }).searched()).items).toMatchObject([
      { mediaType: 'text/markdown' },
    ]));
});

describe('vectors of other models than the configured one', () => {
  const indexed = { a: 1, b: 1 };

  it('are searched beside its own by a query of their model, while that is configured', async () => {
    const { searched, asked } = retrievalOver({ indexed, others: ['before'], configured: ['before', 'unused'] });
    expect(await searched()).toMatchObject({ found: ['a', 'b'], degraded: [] });
    expect(asked.map(({ vector }) => vector?.model)).toEqual(['before', TEST_MODEL.key, 'before']);
  });

  it.each([1, 2, 3])('are found while documents are swapped before query %d, and rolled back', async (swappedAt) => {
    for (const [before, after] of [
      ['old', TEST_MODEL.key],
      [TEST_MODEL.key, 'old'],
    ] as const) {
      const modelAt = (asked: number) => (asked < swappedAt ? before : after);
      const { searched } = retrievalOver({ indexed: { one: 2 }, others: ['old'], configured: ['old'], modelAt });
      expect((await searched({ mode: 'vector' })).found).toEqual(['one']);
    }
  });

  it('are not searched once it is gone, which is said', async () => {
    const { searched, asked } = retrievalOver({ indexed, others: ['before'] });
    expect(await searched()).toMatchObject({ found: ['a', 'b'], degraded: ['vector'] });
    expect(asked.map(({ vector }) => vector?.model)).toEqual([TEST_MODEL.key]);
  });
});

describe('a model that does not answer', () => {
  const away: readonly [string, () => Promise<never>][] = [
    ['is down', () => Promise.reject(new DomainError('upstream_error'))],
    ['takes too long for its provider', () => Promise.reject(new DomainError('upstream_timeout'))],
    ['has lost its process', () => Promise.reject(new Unavailable('local-embedding', 'its process ended'))],
  ];

  it.each(away)('%s: hybrid searches go on without vectors and say so, others fail or need none', async (_, embed) => {
    const { asked, searched } = retrievalOver({ indexed: { one: 2 }, embed });
    expect(await searched()).toMatchObject({ found: ['one'], degraded: ['vector'] });
    expect(asked[0]).not.toHaveProperty('vector');
    await expect(searched({ mode: 'vector' })).rejects.toMatchObject({ name: 'Unavailable', dependency: 'embedding' });
    expect(await searched({ mode: 'text' })).toMatchObject({ found: ['one'], degraded: [] });
  });

  it.each(away)('%s: what is found stays in its order and says so', async (_, rerank) =>
    expect(await retrievalOver({ indexed: { one: 2, two: 2 }, rerank }).searched({ rerank: true })).toMatchObject({
      found: ['one', 'two'],
      degraded: ['rerank'],
    }),
  );

  it('is not waited for longer than a search may take', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => AbortSignal.abort(new Error('late')));
    const never = () => new Promise<never>(() => undefined);
    const { searched } = retrievalOver({ indexed: { one: 2 }, embed: never, rerank: never });
    expect(await searched({ rerank: true })).toMatchObject({ found: ['one'], degraded: ['vector', 'rerank'] });
    expect(timeout.mock.calls).toEqual([[5_000], [5_000]]);
    timeout.mockRestore();
  });

  it('is another matter than a used-up limit or a caller who left: those end the search', async () => {
    const rejecting = { begin: () => Promise.reject(new DomainError('usage_limit_exceeded')) };
    await expect(retrievalOver({ indexed: { one: 2 }, metering: rejecting }).searched()).rejects.toMatchObject({
      code: 'usage_limit_exceeded',
    });
    const left = new Error('left');
    await expect(
      retrievalOver({ indexed: { one: 2 } }).searched({}, { ...asking, signal: AbortSignal.abort(left) }),
    ).rejects.toBe(left);
  });
});

describe('a reranker', () => {
  const rerank = async ({ documents }: RerankRequest) => documents.map((_, index) => (index === 1 ? 0.9 : 0.1));

  it('ranks what was found anew when asked, reading each passage with its title and headings', async () => {
    const requests: RerankRequest[] = [];
    const { searched } = retrievalOver({
      indexed: { one: 2, two: 2, three: 2 },
      rerank: async (request) => (requests.push(request), rerank(request)),
      reranker: 'remote',
    });
    const { items } = await searched({ rerank: true });
    expect(items.map(({ documentId, rerankRank, score }) => [documentId, rerankRank, score])).toEqual([
      ['two', 1, 0.9],
      ['one', 2, 0.1],
      ['three', 3, 0.1],
    ]);
    expect(requests[0]).toMatchObject({
      query: 'words',
      documents: ['one > Heading\none', 'two > Heading\ntwo', 'three > Heading\nthree'],
    });
  });

  it('is used by default where one is configured, and never where a search says no', async () => {
    const first = async (reranker: 'local' | 'remote', given: Partial<KnowledgeQuery> = {}) =>
      (await retrievalOver({ indexed: { one: 2, two: 2 }, rerank, reranker }).searched(given)).found[0];
    expect([await first('local'), await first('remote'), await first('remote', { rerank: false })]).toEqual([
      'one',
      'two',
      'one',
    ]);
  });

  it('that is the local one counts half beside what the search says', async () => {
    const { searched } = retrievalOver({ indexed: { one: 2, two: 2 }, rerank });
    expect((await searched({ rerank: true })).items.map(({ score }) => score)).toEqual([0.7, 0.55]);
  });

  it('may score by log-odds, and is given more passages than there are places', async () => {
    const { items } = await retrievalOver({
      indexed: each(many),
      rerank: async ({ documents }) => documents.map((_, index) => index - 16),
      reranker: 'remote',
    }).searched({ limit: 20, rerank: true });
    expect(items.slice(0, 2).map(({ documentId, rerankRank }) => [documentId, rerankRank])).toEqual([
      ['d39', 1],
      ['d38', 2],
    ]);
    expect(items.every(({ score }) => score > 0 && score <= 1)).toBe(true);
  });
});

it('gives what is cited as an event can hold it, also where an earlier version cut a heading in a letter', async () => {
  const { items } = await retrievalOver({ indexed: { one: 2 }, headings: ['Cut \ud83d'] }).searched();
  expect(items.map(({ headings }) => headings)).toEqual([['Cut \ufffd']]);
});
