import { until } from '../fixtures/until';
import { embeddingModel, type KnowledgeWorld, startKnowledge } from './knowledge-world';

const OPERATIONS = '/api/v1/operations/reindex';
let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());

interface Chunk {
  readonly id: string;
  readonly text: string;
  readonly edited: boolean;
}
interface Hit {
  readonly documentId: string;
  readonly text: string;
}
const newAgent = async (): Promise<string> =>
  (await world.send<{ id: string }>('/agents', { spaceId: world.spaceId, name: 'Reader' })).body.id;
const reindex = async (agentId: string, action = '') =>
  expect((await world.send(`/knowledge/${agentId}/reindex${action}`, {})).status).toBeLessThan(300);
const reaches = (agentId: string, state: string) =>
  until(
    async () => (await world.read<{ state: string }>(`/knowledge/${agentId}/reindex`)).body.state === state,
    `the state ${state}`,
  );
const document = async (agentId: string, id: string) =>
  (await world.read<{ status: string; chunkCount: number }>(`/knowledge/${agentId}/documents/${id}`)).body;
const chunks = async (agentId: string, id: string) =>
  (await world.read<{ items: Chunk[] }>(`/knowledge/${agentId}/documents/${id}/chunks?limit=100`)).body.items;
const edit = async (agentId: string, id: string, word: string, text: string) => {
  const chunk = (await chunks(agentId, id)).find((each) => each.text.includes(word));
  const path = `/knowledge/${agentId}/documents/${id}/chunks/${chunk?.id}`;
  expect((await world.send(path, { text }, { method: 'PUT' })).status).toBe(200);
};
const search = async (agentId: string, query: string, mode: string) =>
  (await world.send<{ items: Hit[] }>(`/knowledge/${agentId}/search`, { query, mode, topK: 50 })).body.items;
const longTextOf = (topic: string): string =>
  `# Numbats\n\nThe numbat eats termites.\n\n# Others\n\n${Array.from({ length: 40 }, (_, index) => `Sentence number ${index} says a little about ${topic}.`).join(' ')}`;
const isCut = async (agentId: string, ids: readonly string[], count: (chunkCount: number) => boolean) =>
  until(
    async () =>
      (await Promise.all(ids.map(async (id) => count((await document(agentId, id)).chunkCount)))).every(Boolean),
    'the passages of all documents',
  );

describe('a document that changed behind a re-index that is ready', () => {
  it('follows the swap and the rollback, edited and renamed, as it was left by people', async () => {
    const agentId = await newAgent();
    const ids = await Promise.all(
      ['wombats', 'quolls', 'emus'].map((topic) => world.add(longTextOf(topic), { agentId })),
    );
    await Promise.all(ids.map((id) => until(async () => (await document(agentId, id)).status === 'Ready')));
    const [edited = '', renamed = ''] = ids;
    const { chunkCount: before } = await document(agentId, edited);
    await world.send(`/agents/${agentId}`, { chunking: { maxTokens: 50, overlapTokens: 0 } }, { method: 'PUT' });
    await reindex(agentId);
    await reaches(agentId, 'ready');
    const embedded = () => world.calls.flat();
    await edit(agentId, edited, 'numbat', 'The quokka smiles.');
    await world.send(`/knowledge/${agentId}/documents/${renamed}`, { name: 'Bison.md' }, { method: 'PUT' });
    await until(
      async () => embedded().filter((text) => text.startsWith('Bison > ')).length >= before,
      'the vectors behind the new name',
    );

    await reindex(agentId, '/swap');
    await isCut(agentId, ids, (count) => count > before);
    expect((await chunks(agentId, edited)).filter((chunk) => chunk.edited).map(({ text }) => text)).toEqual([
      'The quokka smiles.',
    ]);
    await until(async () => (await search(agentId, 'quokka', 'text')).some(({ documentId }) => documentId === edited));
    await until(
      async () =>
        (await search(agentId, 'sentence', 'vector')).filter(({ documentId }) => documentId === renamed).length > 0,
    );

    // Another edit, and an edit of what was renamed: both are there after the rollback.
    await edit(agentId, edited, 'quokka', 'The quokka frowns.');
    await edit(agentId, renamed, 'numbat', 'The potoroo digs.');
    await reindex(agentId, '/rollback');
    await isCut(agentId, ids, (count) => count === before);
    const marked = async (id: string) =>
      (await chunks(agentId, id)).filter((chunk) => chunk.edited).map(({ text }) => text);
    expect([await marked(edited), await marked(renamed)]).toEqual([['The quokka frowns.'], ['The potoroo digs.']]);
    for (const [word, id] of [
      ['frowns', edited],
      ['potoroo', renamed],
    ] as const)
      await until(async () => (await search(agentId, word, 'text')).some(({ documentId }) => documentId === id));

    await reindex(agentId, '/swap');
    await isCut(agentId, ids, (count) => count > before);
    expect([await marked(edited), await marked(renamed)]).toEqual([['The quokka frowns.'], ['The potoroo digs.']]);
  });

  it('has the vectors of the model that the others have, before and after', async () => {
    const agentId = await newAgent();
    const ids = await Promise.all(
      ['# A\n\nThe zebra sleeps.', '# A\n\nThe okapi eats.'].map((text) => world.add(text, { agentId })),
    );
    await Promise.all(ids.map((id) => until(async () => (await document(agentId, id)).status === 'Ready')));
    const [edited = ''] = ids;
    const both = { models: [embeddingModel('lengths'), embeddingModel('other')] };
    const operate = (action = '') =>
      world.platform.call<{ state: string; progress: { total: number } }>(OPERATIONS + action, { method: 'POST' });
    const shown = async () =>
      (await world.platform.call<{ state: string; progress: { total: number } }>(OPERATIONS)).body;
    await world.restart({ embeddingModel: 'other', ...both });
    await operate();
    await until(async () => (await shown()).state === 'ready');
    await edit(agentId, edited, 'zebra', 'The zebra runs.');
    await operate('/swap');
    const models = async () => {
      world.models.length = 0;
      const found = await search(agentId, 'Who runs?', 'vector');
      expect(new Set(found.map(({ documentId }) => documentId)).size).toBe(2);
      return world.models.toSorted().join();
    };
    await until(async () => (await models()) === 'other', 'vectors of the new model alone');
    await edit(agentId, edited, 'zebra', 'The zebra waits for the rain.');
    await operate('/rollback');
    await world.restart({ embeddingModel: 'lengths', ...both });
    await until(async () => (await models()) === 'lengths', 'vectors of the earlier model alone');
    expect((await search(agentId, 'rain', 'text')).map(({ documentId }) => documentId)).toEqual([edited]);
  });
});
