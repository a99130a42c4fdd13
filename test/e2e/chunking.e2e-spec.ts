import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { type KnowledgeWorld, startKnowledge } from './knowledge-world';

let world: KnowledgeWorld;
beforeAll(async () => (world = await startKnowledge()), 60_000);
afterAll(() => world.stop());

const TEXT = Array.from({ length: 60 }, (_, index) => `Sentence number ${index} says a little about backups.`).join(
  ' ',
);
const tokens = (text: string): number => encode(text).length;
const chunking = (maxTokens: number, overlapTokens = 0) => ({ chunking: { maxTokens, overlapTokens } });
type Shown = { readonly chunking: object | null; readonly revision: number };
const change = (path: string, body: object) => world.send<Shown>(path, body, { method: 'PUT' });
const agent = () => `/agents/${world.agentId}`;
const space = () => `/spaces/${world.spaceId}`;
const largest = async (id: string) => {
  await world.ready(id);
  return Math.max(...(await world.chunks(id)).map(({ text }) => tokens(text)));
};

describe('chunking', () => {
  it('is by default what it was: a hundred words, no overlap', async () => {
    expect((await world.read<Shown>(agent())).body.chunking).toBeNull();
    expect((await world.read<Shown>(space())).body.chunking).toBeNull();
    const id = await world.add(TEXT);
    expect(await world.ready(id)).toMatchObject({ status: 'Ready', chunkCount: 5, tokenCount: tokens(TEXT) });
    const texts = (await world.chunks(id)).map(({ text }) => text);
    expect(texts.every((text) => text.split(' ').length <= 100)).toBe(true);
    expect(texts.join(' ')).toBe(TEXT);
  });

  it("is the Space's where the Agent has none, else the Agent's; global documents keep the default", async () => {
    expect((await change(space(), chunking(60))).body).toMatchObject(chunking(60));
    const inherited = await largest(await world.add(TEXT));
    expect([inherited > 45, inherited <= 60]).toEqual([true, true]);
    expect((await change(agent(), chunking(200, 40))).body).toMatchObject(chunking(200, 40));
    const own = await world.add(TEXT);
    expect(await largest(own)).toBeGreaterThan(150);
    const chunks = await world.chunks(own);
    for (const [index, { text, position }] of chunks.entries()) {
      expect(TEXT.slice(position.start, position.end)).toBe(text);
      expect(tokens(text)).toBeLessThanOrEqual(200);
      if (index > 0) expect(position.start).toBeLessThan(chunks[index - 1]?.position.end ?? 0);
    }
    expect(await largest(await world.add(TEXT, { scope: 'space' }))).toBeLessThanOrEqual(60);
    expect((await world.ready(await world.add(TEXT, { scope: 'global' }))).chunkCount).toBe(5);
    expect((await change(agent(), { chunking: null })).body.chunking).toBeNull();
    expect(await largest(await world.add(TEXT))).toBeLessThanOrEqual(60);
    await change(space(), { chunking: null });
  });

  it('leaves documents as they are, and cuts anew what is processed again', async () => {
    const id = await world.add(TEXT);
    const before = await world.ready(id);
    await change(agent(), chunking(50, 10));
    expect((await world.document(id)).chunkCount).toBe(before.chunkCount);
    await world.send(`/knowledge/${world.agentId}/documents/${id}/reprocess`, { force: true });
    expect((await world.ready(id)).chunkCount).toBeGreaterThan(before.chunkCount);
    await change(agent(), { chunking: null });
  });

  it('is part of the versions of an Agent', async () => {
    const { body: before } = await world.read<Shown>(agent());
    await change(agent(), chunking(300));
    const versions = await world.read<{ items: { changes: object }[] }>(`${agent()}/versions`);
    expect(versions.body.items[0]?.changes).toEqual(chunking(300));
    await world.send(`${agent()}/versions/${before.revision}/restore`);
    expect((await world.read<Shown>(agent())).body.chunking).toBeNull();
  });

  it.each([
    [{ maxTokens: 49, overlapTokens: 0 }, 'chunking.maxTokens'],
    [{ maxTokens: 1_001, overlapTokens: 0 }, 'chunking.maxTokens'],
    [{ maxTokens: 100.5, overlapTokens: 0 }, 'chunking.maxTokens'],
    [{ maxTokens: 100, overlapTokens: 51 }, 'chunking.overlapTokens'],
    [{ maxTokens: 100, overlapTokens: -1 }, 'chunking.overlapTokens'],
    [{ maxTokens: 100 }, 'chunking.overlapTokens'],
    [{ maxTokens: 100, overlapTokens: 0, unit: 'words' }, 'chunking.unit'],
    ['small', 'chunking'],
  ])('out of range is rejected, and named: %j', async (given, path) => {
    for (const target of [agent(), space()]) {
      const answer = await world.send<{ errors: { path: string }[] }>(target, { chunking: given }, { method: 'PUT' });
      expect([answer.status, answer.body.errors.map((error) => error.path)]).toEqual([400, [path]]);
    }
    const made = await world.send<{ errors: { path: string }[] }>('/agents', { name: 'New', chunking: given });
    expect([made.status, made.body.errors.map((error) => error.path)]).toEqual([400, [path]]);
  });
});
