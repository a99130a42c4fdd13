import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { type KnowledgeWorld, startKnowledge } from './knowledge-world';

let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());
afterEach(() => (world.hold = async () => undefined));

interface Reindex {
  readonly scope: string;
  readonly state: string;
  readonly estimate: { readonly calls: number; readonly tokens: number; readonly cost: string };
  readonly currency: string;
  readonly progress: { readonly done: number; readonly total: number };
}
const sentences = (topic: string): string =>
  Array.from({ length: 40 }, (_, index) => `Sentence number ${index} says a little about ${topic}.`).join(' ');

/** An Agent of its own for each test. */
const newAgent = async (): Promise<string> =>
  (await world.send<{ id: string }>('/agents', { spaceId: world.spaceId, name: 'Reader' })).body.id;
const cut = (agentId: string, maxTokens: number) =>
  world.send(`/agents/${agentId}`, { chunking: { maxTokens, overlapTokens: 0 } }, { method: 'PUT' });
const reindex = async (agentId: string, action = '', body: object = {}) =>
  world.send<Reindex & { code: string; detail: string }>(`/knowledge/${agentId}/reindex${action}`, body);
const shown = async (agentId: string) => (await world.read<Reindex>(`/knowledge/${agentId}/reindex`)).body;
const reaches = (agentId: string, state: string) => until(async () => (await shown(agentId)).state === state);
const document = async (agentId: string, id: string) =>
  (
    await world.read<{ status: string; chunkCount: number; indexedRevision: number }>(
      `/knowledge/${agentId}/documents/${id}`,
    )
  ).body;
const ready = async (agentId: string, topics: readonly string[]): Promise<string[]> => {
  const ids = await Promise.all(topics.map((topic) => world.add(sentences(topic), { agentId })));
  await Promise.all(ids.map((id) => until(async () => (await document(agentId, id)).status === 'Ready')));
  return ids;
};
const search = async (agentId: string, query: string, mode = 'hybrid') =>
  (
    await world.send<{ items: { documentId: string; text: string; chunkIds: string[] }[] }>(
      `/knowledge/${agentId}/search`,
      { query, mode, topK: 100 },
    )
  ).body.items;
const chunkCounts = async (agentId: string, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await document(agentId, id)).chunkCount));

describe('a re-index', () => {
  it('tells its cost, makes passages beside those that are searched, and is swapped and rolled back', async () => {
    const agentId = await newAgent();
    const ids = await ready(agentId, ['zebras', 'okapis', 'lynxes']);
    const before = await chunkCounts(agentId, ids);
    await cut(agentId, 60);

    const told = await reindex(agentId, '', { dryRun: true });
    expect([told.status, told.body.state, told.body.progress]).toEqual([200, 'none', { done: 0, total: 3 }]);
    expect(told.body.estimate.calls).toBeGreaterThanOrEqual(3);
    expect(Number(told.body.estimate.cost)).toBeCloseTo(told.body.estimate.tokens / 1_000_000, 9);
    expect(await shown(agentId)).toMatchObject({ state: 'none', estimate: told.body.estimate, currency: 'USD' });

    const made = world.calls.length;
    const started = await reindex(agentId);
    expect([started.status, started.body.state]).toEqual([202, 'running']);
    let searches = 0;
    await until(async () => {
      searches += 1;
      expect((await search(agentId, 'okapis', 'text')).map(({ documentId }) => documentId)).toContain(ids[1]);
      expect((await document(agentId, ids[0] as string)).status).toBe('Ready');
      return (await shown(agentId)).state === 'ready';
    });
    expect(searches).toBeGreaterThan(0);
    expect((await shown(agentId)).progress).toEqual({ done: 3, total: 3 });
    expect(await chunkCounts(agentId, ids)).toEqual(before);
    expect(world.calls.length - made).toBeGreaterThanOrEqual(3);
    expect(world.calls.length - made).toBeLessThanOrEqual(told.body.estimate.calls + searches);

    const pinned = (await document(agentId, ids[0] as string)).indexedRevision;
    expect((await reindex(agentId, '/swap')).body.state).toBe('swapped');
    await until(async () => (await chunkCounts(agentId, ids)).every((count, index) => count > (before[index] ?? 0)));
    const { chunkCount } = await document(agentId, ids[0] as string);
    const found = async () =>
      (await search(agentId, 'zebras', 'vector')).filter(({ documentId }) => documentId === ids[0]);
    await until(async () => (await found()).flatMap(({ chunkIds }) => chunkIds).length === chunkCount);
    expect((await document(agentId, ids[0] as string)).indexedRevision).toBe(pinned);
    expect((await reindex(agentId, '/swap')).status).toBe(200);

    expect((await reindex(agentId, '/rollback')).body.state).toBe('ready');
    await until(async () => JSON.stringify(await chunkCounts(agentId, ids)) === JSON.stringify(before));
    expect((await search(agentId, 'zebras', 'text')).length).toBeGreaterThan(0);
    await reindex(agentId, '/swap');
    await until(async () => (await chunkCounts(agentId, ids)).every((count, index) => count > (before[index] ?? 0)));
    expect((await reindex(agentId, '', { dryRun: true })).body).toMatchObject({ progress: { total: 0 } });
  });

  it('keeps what was edited and disabled by hand, however the text is cut, and drops nothing', async () => {
    const agentId = await newAgent();
    const id = await world.add(
      `# Wombats\n\n${sentences('wombats')}\n\n# Numbats\n\nThe numbat eats termites.\n\n# Quolls\n\n${sentences('quolls')}`,
      { agentId },
    );
    await until(async () => (await document(agentId, id)).status === 'Ready');
    interface Chunk {
      readonly id: string;
      readonly text: string;
      readonly enabled: boolean;
      readonly edited: boolean;
    }
    const path = `/knowledge/${agentId}/documents/${id}`;
    const chunks = async () => (await world.read<{ items: Chunk[] }>(`${path}/chunks?limit=100`)).body.items;
    const edit = async (chunk: Chunk | undefined, body: object) =>
      expect((await world.send(`${path}/chunks/${chunk?.id}`, body, { method: 'PUT' })).status).toBe(200);
    const before = await chunks();
    const disabled = before[1];
    await edit(disabled, { enabled: false });
    await edit(
      before.find(({ text }) => text.includes('numbat')),
      { text: 'The quokka smiles.' },
    );
    await edit(before.at(-2), { text: 'The quoll is gone.' });
    const marked = (all: readonly Chunk[]) =>
      all.filter(({ enabled, edited }) => edited || !enabled).map(({ text, edited }) => [text, edited] as const);
    const edited = marked(await chunks());
    await cut(agentId, 50);
    await reindex(agentId);
    await reaches(agentId, 'ready');
    expect(marked(await chunks())).toEqual(edited);
    await reindex(agentId, '/swap');
    await until(async () => (await document(agentId, id)).chunkCount > before.length);
    const after = marked(await chunks());
    expect(after.slice(-2)).toEqual([
      ['The quokka smiles.', true],
      ['The quoll is gone.', true],
    ]);
    const pieces = after.slice(0, -2);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every(([text, isEdited]) => !isEdited && disabled?.text.includes(text) === true)).toBe(true);
    const found = async (query: string) => (await search(agentId, query, 'text')).map(({ text }) => text).join('\n');
    // What is searched follows what is shown of the document, and has the edits before and after.
    await until(async () => (await found('gone')).includes('The quoll is gone.'), 'the search of what was swapped');
    expect(await found('quokka')).toContain('The quokka smiles.');
    for (const [text] of pieces) expect(await found(text)).not.toContain(text);
    const dropped = async () =>
      (await world.read<{ items: { event: string; produced: number }[] }>(`${path}/logs`)).body.items.filter(
        ({ event }) => event === 'editsDropped',
      );
    expect(await dropped()).toEqual([]);

    // Kept through what is ingested again, and as they were where it is rolled back.
    await reindex(agentId, '/rollback');
    await until(async () => (await document(agentId, id)).chunkCount === before.length);
    expect(marked(await chunks())).toEqual(edited);
    await reindex(agentId, '/swap');
    await until(async () => (await document(agentId, id)).chunkCount > before.length);
    await world.send(`${path}/reprocess`, { force: true });
    await until(async () => (await document(agentId, id)).status === 'Ready');
    expect(marked(await chunks())).toEqual(after);
  });

  it('is found by every search while it is swapped', async () => {
    const agentId = await newAgent();
    const [id] = await ready(agentId, ['pangolins']);
    await cut(agentId, 50);
    await reindex(agentId);
    await reaches(agentId, 'ready');
    let isOver = false;
    let missed = 0;
    const searching = (async () => {
      while (!isOver) {
        const hits = await search(agentId, 'pangolins');
        if (!hits.some(({ documentId }) => documentId === id)) missed += 1;
      }
    })();
    for (let round = 0; round < 5; round += 1) {
      await reindex(agentId, '/swap');
      await until(async () => (await document(agentId, id as string)).chunkCount > 6);
      await reindex(agentId, '/rollback');
      await until(async () => (await document(agentId, id as string)).chunkCount <= 6);
    }
    isOver = true;
    await searching;
    expect(missed).toBe(0);
  });

  it('is paused, resumed and cancelled, and counts for whoever asked for it', async () => {
    const agentId = await newAgent();
    const ids = await ready(agentId, ['moles', 'voles']);
    const before = await chunkCounts(agentId, ids);
    await cut(agentId, 50);
    const held: (() => void)[] = [];
    world.hold = () => new Promise<void>((resolve) => void held.push(resolve));
    const usage = async () =>
      (await world.read<{ totals: { calls: number } }>(`/llm/${agentId}/usage?${EVER}`)).body.totals.calls;
    const billed = await usage();
    await reindex(agentId);
    await until(async () => (await shown(agentId)).progress.total === 2);
    expect((await reindex(agentId, '')).body).toMatchObject({ status: 409, code: 'conflict' });
    expect((await reindex(agentId, '/pause')).body.state).toBe('paused');
    expect((await reindex(agentId, '/swap')).body).toMatchObject({ status: 409, code: 'conflict' });
    world.hold = async () => undefined;
    for (const go of held) go();
    expect((await reindex(agentId, '/resume')).body.state).toBe('running');
    await reaches(agentId, 'ready');
    await until(async () => (await usage()) > billed);
    expect((await reindex(agentId, '/cancel')).body.state).toBe('none');
    expect(await chunkCounts(agentId, ids)).toEqual(before);
    expect((await reindex(agentId, '/swap')).body).toMatchObject({ status: 409, code: 'conflict' });
    expect((await reindex(agentId, '/resume')).status).toBe(409);
  });

  it('takes turns with others: a short one ends while a long one that came before it goes on', async () => {
    const [long, short] = [await newAgent(), await newAgent()];
    await ready(long, ['herons', 'ibises', 'jackals', 'koalas']);
    await ready(short, ['lemurs']);
    for (const agentId of [long, short]) await cut(agentId, 50);
    const isBegun = async () => {
      const { reindex: told } = (
        await world.platform.call<{ reindex?: { open: { id: string; progress: object | null }[] } }>('/health')
      ).body;
      return told?.open.some(({ id, progress }) => id === short && progress !== null) === true;
    };
    const first = Promise.withResolvers<void>();
    let ended = 0;
    world.hold = async () => {
      await first.promise;
      ended += 1;
    };
    const before = world.calls.length;
    await reindex(long);
    await until(async () => world.calls.length > before, 'the long one to be at work');
    await reindex(short);
    await until(isBegun, 'the short one to be begun');
    expect(ended).toBe(0);
    first.resolve();
    await reaches(long, 'ready');
    await reaches(short, 'ready');
    const topics = world.calls.slice(before).map((texts) => /about (\w+)/.exec(texts.join(' '))?.[1] ?? '');
    expect(topics.indexOf('lemurs')).toBeGreaterThan(0);
    expect(topics.slice(topics.indexOf('lemurs') + 1).filter((topic) => topic !== 'lemurs').length).toBeGreaterThan(0);
  });

  it('leaves alone what changes or is deleted meanwhile', async () => {
    const agentId = await newAgent();
    const [changed, deleted, added] = await ready(agentId, ['emus', 'kiwis', 'rheas']);
    await cut(agentId, 50);
    await reindex(agentId);
    await reaches(agentId, 'ready');
    await world.send(`/knowledge/${agentId}/documents/${changed}`, { content: 'Now of gannets.' }, { method: 'PUT' });
    await world.send(`/knowledge/${agentId}/documents/${deleted}`, undefined, { method: 'DELETE' });
    await until(async () => (await document(agentId, changed as string)).status === 'Ready');
    expect((await reindex(agentId, '/swap')).status).toBe(200);
    await until(async () => (await document(agentId, added as string)).chunkCount > 6);
    expect((await document(agentId, changed as string)).chunkCount).toBe(1);
    expect((await search(agentId, 'gannets', 'text')).map(({ documentId }) => documentId)).toEqual([changed]);
    expect((await world.read(`/knowledge/${agentId}/documents/${deleted}`)).status).toBe(404);
    expect((await reindex(agentId, '/rollback')).status).toBe(200);
    await until(async () => (await document(agentId, added as string)).chunkCount <= 6);
    expect((await document(agentId, changed as string)).chunkCount).toBe(1);
  });

  it("is about the Space's own documents where it says so", async () => {
    const agentId = await newAgent();
    const id = await world.add(sentences('storks'), { agentId, scope: 'space' });
    await until(async () => (await document(agentId, id)).status === 'Ready');
    const { chunkCount } = await document(agentId, id);
    await world.send(`/spaces/${world.spaceId}`, { chunking: { maxTokens: 50, overlapTokens: 10 } }, { method: 'PUT' });
    expect((await reindex(agentId, '', { scope: 'space' })).body).toMatchObject({ scope: 'space', state: 'running' });
    await reaches(agentId, 'ready');
    expect((await reindex(agentId, '/swap')).body).toMatchObject({ scope: 'space', state: 'swapped' });
    await until(async () => (await document(agentId, id)).chunkCount > chunkCount);
    await world.send(`/spaces/${world.spaceId}`, { chunking: null }, { method: 'PUT' });
  });

  it('is for those who may change the Agent, and unknown to others', async () => {
    const agentId = await newAgent();
    const stranger = await world.platform.newCaller();
    const viewer = await world.platform.newCaller();
    await world.send(`/spaces/${world.spaceId}/members/${viewer.userId}`, { role: 'viewer' }, { method: 'PUT' });
    const statuses = async (key: string, id = agentId) =>
      Promise.all([
        world.read(`/knowledge/${id}/reindex`, { key }).then(({ status }) => status),
        ...['', '/pause', '/resume', '/cancel', '/swap', '/rollback'].map(async (action) =>
          world.send(`/knowledge/${id}/reindex${action}`, {}, { key }).then(({ status }) => status),
        ),
      ]);
    expect(await statuses(stranger.key)).toEqual(Array(7).fill(404));
    expect(await statuses(stranger.key, '01900000-0000-7000-8000-00000000dead')).toEqual(Array(7).fill(404));
    expect(await statuses(viewer.key)).toEqual([200, ...Array(6).fill(403)]);
  });

  it.each([{ scope: 'global' }, { dryRun: 'yes' }, { model: 'x' }])('rejects what it does not know: %j', async (body) =>
    expect((await reindex(world.agentId, '', body)).status).toBe(400),
  );
});
