import { OutputRates } from '@app/models';
import type { SearchHit, SearchQuery } from '@app/search-index';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { TEST_MODEL } from '../../../../test/fixtures/spending';
import { Retrieval } from './retrieval';

const agent = { agentId: 'a', spaceId: 's' };
const asking = { userId: 'u', holds: true, signal: new AbortController().signal };
const models = {
  rates: new OutputRates(),
  embedding: () => ({
    model: TEST_MODEL,
    provider: { embed: () => Promise.reject(new Error('asked')), mayAnswer: () => [] },
  }),
};

/** An index of documents with a passage each, best first, each at a revision. */
const retrievalOver = (
  indexed: Readonly<Record<string, number>>,
  readyAt: Readonly<Record<string, number>>,
  waiting: readonly string[] = [],
) => {
  const asked: SearchQuery[] = [];
  const search = async (_: string, query: SearchQuery): Promise<readonly SearchHit[]> => {
    asked.push(query);
    return Object.entries(indexed)
      .filter(([documentId]) => query.exceptDocumentIds?.includes(documentId) !== true)
      .slice(0, query.limit)
      .map(([documentId, documentRevision]) => ({ documentId, documentRevision }) as SearchHit);
  };
  const shown = {
    ready: async (ids: readonly string[]) => new Map(Object.entries(readyAt).filter(([id]) => ids.includes(id))),
    unready: async () => waiting,
  };
  const retrieval = new Retrieval({ search }, shown, { models, metering: unmetered });
  const found = async (limit: number) =>
    (await retrieval.search(agent, { text: 'words', limit, mode: 'text' }, asking)).map(({ documentId }) => documentId);
  return { asked, found };
};

describe('what an Agent would answer from', () => {
  it('is of documents that are Ready, with the passages that they became Ready with', async () => {
    const { asked, found } = retrievalOver({ left: 2, ready: 2, early: 8, gone: 2 }, { ready: 2, early: 4 });
    expect([await found(8), asked.length]).toEqual([['ready'], 2]);
  });

  it('asks the index once where that is up to date', async () => {
    const { asked, found } = retrievalOver({ one: 2, two: 2 }, { one: 2, two: 2 });
    expect([await found(8), asked.length]).toEqual([['one', 'two'], 1]);
  });

  it('is found however many documents before it are not Ready', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `d${index}`);
    const indexed = { ...Object.fromEntries(many.map((id) => [id, 2])), ready: 2 };
    const { asked, found } = retrievalOver(indexed, { ready: 2 }, many);
    expect([await found(1), asked.length]).toEqual([['ready'], 2]);
  });

  it('ends where an index does not stop to offer what is not Ready', async () => {
    const endless = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d${index}`, 2]));
    const { asked, found } = retrievalOver(endless, {});
    expect([await found(2), asked.length]).toEqual([[], 6]);
  });
});
