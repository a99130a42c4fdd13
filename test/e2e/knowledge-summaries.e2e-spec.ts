import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';
let platform: TestPlatform;

interface Index {
  readonly state: string;
  readonly estimate: { readonly calls: number; readonly tokens: number; readonly cost: string };
  readonly progress: { readonly done: number; readonly total: number };
  readonly levels: number;
  readonly summaries: number;
  readonly builtAt: string | null;
  readonly failure: { readonly code: string } | null;
}

/** Paragraphs of some animals, each a chunk or so. */
const bookOf = (animal: string, sections = 6): string =>
  Array.from(
    { length: sections },
    (_, index) =>
      `# ${animal} chapter ${index}\n\n${Array.from(
        { length: 12 },
        (_unused, sentence) =>
          `The ${animal} keeps its habit number ${index * 100 + sentence} in the forest near the river for a long time.`,
      ).join(' ')}`,
  ).join('\n\n');

describe('section-summary indexes', () => {
  let spaceId: string;

  beforeAll(async () => {
    platform = await startTestPlatform();
    spaceId = (await post<{ id: string }>('/spaces', { name: 'Zoo' })).body.id;
  }, 60_000);
  afterAll(() => platform.stop());

  const post = <T = Record<string, unknown>>(path: string, body: object) =>
    platform.call<T>(CORE + path, { method: 'POST', body });
  const newAgent = async (fields: object = {}): Promise<string> =>
    (await post<{ id: string }>('/agents', { spaceId, name: 'Guide', knowledgeEnabled: true, ...fields })).body.id;
  const pathOf = (agentId: string): string => `/knowledge/${agentId}/summary-index`;
  const index = async (agentId: string): Promise<Index> => (await platform.call<Index>(CORE + pathOf(agentId))).body;
  const build = (agentId: string, mode: 'build' | 'rebuild' = 'build') => post(pathOf(agentId), { mode });
  const isReady = (agentId: string) =>
    until(async () => {
      const { state, failure } = await index(agentId);
      if (failure !== null) throw new Error(failure.code);
      return state === 'ready';
    }, 'the build');
  const add = async (agentId: string, name: string, content: string): Promise<string> => {
    const { id } = (
      await post<{ id: string }>(`/knowledge/${agentId}/documents`, {
        name,
        content,
        mimeType: 'text/markdown',
        scope: 'agent',
      })
    ).body;
    await until(
      async () =>
        (await platform.call<{ status: string }>(`${CORE}/knowledge/${agentId}/documents/${id}`)).body.status ===
        'Ready',
      'the document',
    );
    return id;
  };

  test('are built from documents, shown and removed', async () => {
    const agentId = await newAgent();
    expect(await index(agentId)).toMatchObject({ state: 'absent', estimate: { calls: 0 }, levels: 0, builtAt: null });
    for (const animal of ['fox', 'owl', 'bear']) await add(agentId, `${animal}.md`, bookOf(animal));
    const { estimate } = await index(agentId);
    expect(estimate.calls).toBeGreaterThan(2);
    const begun = await build(agentId);
    expect([begun.status, begun.body['state']]).toEqual([202, 'building']);
    await isReady(agentId);
    const built = await index(agentId);
    expect(built.levels).toBeGreaterThan(1);
    expect(built.progress).toEqual({ done: built.summaries, total: built.summaries });
    expect(built.summaries).toBeLessThanOrEqual(estimate.calls);
    expect(built.estimate.calls).toBe(0);

    const removed = await platform.call(`${CORE}${pathOf(agentId)}?purge=true`, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    expect(await index(agentId)).toMatchObject({ state: 'absent', levels: 0, summaries: 0 });
  });
});
