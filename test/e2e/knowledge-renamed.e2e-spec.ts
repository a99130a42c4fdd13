import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { type KnowledgeWorld, startKnowledge } from './knowledge-world';

let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());

const content = Array.from({ length: 40 }, (_, index) => `# ${index}\n\nSentence ${index}.`).join('\n\n');

interface Hit {
  readonly documentId: string;
  readonly documentName: string;
  readonly vectorRank: number | null;
}
const search = async (query: string, mode: string): Promise<readonly Hit[]> =>
  (await world.send<{ items: Hit[] }>(`/knowledge/${world.agentId}/search`, { query, mode })).body.items;

it('a document that is renamed is embedded behind its new title, billed once, Ready and found all the while', async () => {
  const id = await world.add(content);
  await world.ready(id);
  const usage = async () =>
    (await world.read<{ totals: { calls: number } }>(`/llm/${world.agentId}/usage?${EVER}`)).body.totals.calls;
  await until(async () => (await usage()) === 3, 'the calls of ingestion');
  const { indexedRevision } = await world.document(id);
  world.calls.length = 0;
  const path = `/knowledge/${world.agentId}/documents/${id}`;
  expect((await world.send(path, { name: 'Bison.md' }, { method: 'PUT' })).status).toBe(200);
  const behindNewTitle = () => world.calls.flat().filter((text) => text.startsWith('Bison > '));
  await until(async () => {
    const shown = await world.document(id);
    expect([shown.status, shown.indexedRevision]).toEqual(['Ready', indexedRevision]);
    expect((await search('sentence', 'vector')).map(({ documentId }) => documentId)).toContain(id);
    expect((await search('Bison', 'text')).map(({ documentId }) => documentId)).toContain(id);
    return behindNewTitle().length === 40;
  }, 'the new vectors');
  // The double's vectors tell lengths apart: the length of what was embedded is nearest.
  const longest = behindNewTitle().reduce((a, b) => (b.length > a.length ? b : a));
  await until(
    async () => (await search('x'.repeat(longest.length), 'vector'))[0]?.documentName === 'Bison.md',
    'what is searched',
  );
  expect(behindNewTitle()).toHaveLength(40);
  const searches = world.calls.filter((texts) => texts.length === 1 && !texts[0]?.startsWith('Bison > ')).length;
  await until(async () => (await usage()) === 3 + 3 + searches, 'the calls of the rename');
});

it('a chunk that is edited while its document is renamed is embedded behind the new title', async () => {
  const id = await world.add('# Yaks\n\nThe yak sleeps.\n\n# Others\n\nThe zebra eats.');
  await world.ready(id);
  const path = `/knowledge/${world.agentId}/documents/${id}`;
  const change = (more: string, body: object) => world.send(path + more, body, { method: 'PUT' });
  const [first, second] = await world.chunks(id);
  const held: (() => void)[] = [];
  world.hold = () => new Promise((resolve) => void held.push(resolve));
  const editing = change(`/chunks/${first?.id}`, { text: 'The yak climbs.' });
  await until(() => held.length > 0, 'the call for the new text');
  expect((await change('', { name: 'Mountains.md' })).status).toBe(200);
  // Other passages are served now: the edit is made once more.
  expect((await change(`/chunks/${second?.id}`, { enabled: false })).status).toBe(200);
  world.hold = async () => undefined;
  for (const go of held) go();
  expect((await editing).status).toBe(200);
  await until(
    () => world.calls.flat().includes('Mountains > Yaks\nThe yak climbs.'),
    'the vector behind the new title',
  );
});
