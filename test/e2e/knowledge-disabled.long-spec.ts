import { until } from '../fixtures/until';
import { type KnowledgeWorld, startKnowledge } from './knowledge-world';

let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());

interface Chunk {
  readonly id: string;
  readonly text: string;
  readonly enabled: boolean;
}
/** Each sentence has a word of its own: `word7`. */
const TEXT = Array.from({ length: 60 }, (_, index) => `Sentence word${index} is about the zebras of the park.`).join(
  ' ',
);
const wordsOf = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => text.match(/word\d+/g) ?? [])),
];

/** A document whose chunk about `word12` is disabled, cut by `maxTokens`. */
const setUp = async (maxTokens: number) => {
  const agentId = (await world.send<{ id: string }>('/agents', { spaceId: world.spaceId, name: 'Reader' })).body.id;
  const cut = (chunking: object) => world.send(`/agents/${agentId}`, { chunking }, { method: 'PUT' });
  await cut({ maxTokens, overlapTokens: 0 });
  const id = await world.add(TEXT, { agentId });
  const path = `/knowledge/${agentId}/documents/${id}`;
  const document = async () => (await world.read<{ status: string; chunkCount: number }>(path)).body;
  const ready = () => until(async () => (await document()).status === 'Ready');
  await ready();
  const chunks = async () => (await world.read<{ items: Chunk[] }>(`${path}/chunks?limit=100`)).body.items;
  /** The words that nothing else has. */
  const disable = async () => {
    const chunk = (await chunks()).find(({ text }) => text.includes('word12 '));
    const put = await world.send(`${path}/chunks/${chunk?.id}`, { enabled: false }, { method: 'PUT' });
    expect(put.status).toBe(200);
    const beside = wordsOf((await chunks()).filter(({ enabled }) => enabled).map(({ text }) => text));
    return wordsOf([chunk?.text ?? '']).filter((word) => !beside.includes(word));
  };
  const found = async () => {
    const body = { query: 'zebras', mode: 'text', topK: 100 };
    const { items } = (await world.send<{ items: Chunk[] }>(`/knowledge/${agentId}/search`, body)).body;
    return wordsOf(items.map(({ text }) => text));
  };
  const reindex = async (action = '') =>
    expect((await world.send(`/knowledge/${agentId}/reindex${action}`, {})).status).toBeLessThan(300);
  const reaches = (state: string) =>
    until(async () => (await world.read<{ state: string }>(`/knowledge/${agentId}/reindex`)).body.state === state);
  /** Cuts it by the chunking of now. */
  const recut = async () => {
    await reindex();
    await reaches('ready');
    await reindex('/swap');
  };
  const isCut = async (is: (chunkCount: number) => boolean) =>
    until(async () => is((await document()).chunkCount), 'the passages that were made');
  /** All but the words of what is disabled are found, and as many chunks are shown as the document says. */
  const hides = async (hidden: readonly string[]) => {
    expect(hidden.length).toBeGreaterThan(0);
    const shown = wordsOf([TEXT]).filter((word) => !hidden.includes(word));
    await until(async () => (await found()).length === shown.length, 'the search of what is enabled');
    expect((await found()).toSorted()).toEqual(shown.toSorted());
    expect((await chunks()).length).toBe((await document()).chunkCount);
    expect(wordsOf((await chunks()).filter(({ enabled }) => !enabled).map(({ text }) => text))).toEqual(hidden);
  };
  /** Says something else in place of the chunk about `word12`: its words are found no longer. */
  const rewrite = async () => {
    const chunk = (await chunks()).find(({ text }) => text.includes('word12 '));
    const put = await world.send(`${path}/chunks/${chunk?.id}`, { text: REWRITTEN }, { method: 'PUT' });
    expect(put.status).toBe(200);
    return wordsOf([chunk?.text ?? '']);
  };
  /** All but these words are found, and what stands in place of them, once. */
  const replaces = async (gone: readonly string[]) => {
    const shown = wordsOf([TEXT]).filter((word) => !gone.includes(word));
    await until(async () => (await found()).length === shown.length, 'the search of what is not replaced');
    expect((await found()).toSorted()).toEqual(shown.toSorted());
    expect((await chunks()).filter(({ text }) => text === REWRITTEN)).toHaveLength(1);
    expect((await chunks()).length).toBe((await document()).chunkCount);
  };
  return { path, cut, document, ready, chunks, disable, rewrite, reindex, recut, isCut, hides, replaces };
};
/** What an edited chunk says. */
const REWRITTEN = 'Nobody may know about these zebras.';

describe('the text of a disabled chunk', () => {
  it('answers nothing once it is cut into larger chunks that overlap, and nothing beside it goes', async () => {
    const { path, cut, document, chunks, disable, recut, isCut, hides } = await setUp(50);
    const hidden = await disable();
    await hides(hidden);
    const { chunkCount: before } = await document();
    await cut({ maxTokens: 200, overlapTokens: 80 });
    await recut();
    await isCut((count) => count !== before);
    await hides(hidden);

    for (const { id } of (await chunks()).filter(({ enabled }) => !enabled))
      expect((await world.send(`${path}/chunks/${id}`, { enabled: true }, { method: 'PUT' })).status).toBe(200);
    expect((await chunks()).every(({ enabled }) => enabled)).toBe(true);
  });

  it('answers nothing after a rollback to other chunks than it was disabled in', async () => {
    const { cut, document, disable, reindex, recut, isCut, hides } = await setUp(200);
    const { chunkCount: before } = await document();
    await cut({ maxTokens: 60, overlapTokens: 15 });
    await recut();
    await isCut((count) => count > before * 2);
    const hidden = await disable();
    const { chunkCount: cutSmall } = await document();
    await reindex('/rollback');
    await isCut((count) => count < cutSmall);
    await hides(hidden);
  });

  it('answers nothing once the document is processed again with other chunks', async () => {
    const { path, cut, ready, disable, hides } = await setUp(50);
    const hidden = await disable();
    await cut({ maxTokens: 300, overlapTokens: 50 });
    expect((await world.send(`${path}/reprocess`, { force: true })).status).toBe(202);
    await ready();
    await hides(hidden);
  });
});

describe('the text of an edited chunk', () => {
  it('is replaced also once it is cut into larger chunks that overlap, and in those of before', async () => {
    const { cut, document, rewrite, reindex, recut, isCut, replaces } = await setUp(50);
    const gone = await rewrite();
    await replaces(gone);
    const { chunkCount: before } = await document();
    await cut({ maxTokens: 200, overlapTokens: 80 });
    await recut();
    await isCut((count) => count !== before);
    await replaces(gone);
    await reindex('/rollback');
    await isCut((count) => count === before);
    await replaces(gone);
  });

  it('is replaced where other content has it elsewhere, and the log says how many edits were dropped', async () => {
    const { path, cut, ready, rewrite, replaces } = await setUp(50);
    const gone = await rewrite();
    await cut({ maxTokens: 200, overlapTokens: 0 });
    const write = async (content: string) => {
      const put = await world.send(path, { content, mimeType: 'text/plain' }, { method: 'PUT' });
      expect(put.status).toBeLessThan(300);
      await ready();
    };
    const dropped = async () => {
      const { items } = (await world.read<{ items: { event: string; produced: number }[] }>(`${path}/logs`)).body;
      return items.filter(({ event }) => event === 'editsDropped').map(({ produced }) => produced);
    };
    await write(`There are giraffes, too. ${TEXT}`);
    await replaces(gone);
    expect(await dropped()).toEqual([]);
    await write(TEXT.replace('word12 ', 'word12 really '));
    await until(async () => (await dropped()).length > 0, 'the log');
    expect(await dropped()).toEqual([1]);
  });
});
