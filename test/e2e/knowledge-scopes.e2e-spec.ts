import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answerChat, embedByLength, type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

interface Document {
  readonly id: string;
  readonly status: string;
}

let platform: TestPlatform;
let provider: ProviderDouble;
let folder: string;
const core = (path: string): string => `/api/v1/core${path}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scopes-'));
  provider = await startProviderDouble();
  const file = join(folder, 'models.json');
  const models = [
    { key: 'big', provider: 'double', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } },
    { key: 'lengths', provider: 'double', kind: 'embedding', pricing: 'free' },
  ];
  writeFileSync(
    file,
    JSON.stringify({
      embeddingModel: 'lengths',
      titleModel: null,
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl, timeoutMs: 2_000 } },
      models,
    }),
  );
  platform = await startTestPlatform({ environment: { MODELS_FILE: file } });
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
  rmSync(folder, { recursive: true });
});

const post = <T>(path: string, body: object, key = ADMIN_KEY) =>
  platform.call<T>(core(path), { method: 'POST', body, key });
const newAgent = async (spaceId: string, model = 'local-chat'): Promise<string> =>
  (await post<{ id: string }>('/agents', { spaceId, name: 'Guide', knowledgeEnabled: true, model })).body.id;
const newSpace = async (): Promise<string> =>
  (await post<{ id: string }>('/spaces', { name: `Space ${Math.random()}` })).body.id;
const addTo = async (agentId: string, scope: string, content: string): Promise<string> => {
  const { body } = await post<Document>(`/knowledge/${agentId}/documents`, {
    name: 'a.md',
    content,
    mimeType: 'text/markdown',
    scope,
  });
  await until(
    async () =>
      (await platform.call<Document>(core(`/knowledge/${agentId}/documents/${body.id}`))).body.status === 'Ready',
    'the end of ingestion',
  );
  return body.id;
};
const finds = async (agentId: string, query: string): Promise<number> =>
  (await post<{ items: object[] }>(`/knowledge/${agentId}/search`, { query, mode: 'text' })).body.items.length;

describe('Knowledge of three levels', () => {
  it("is searched by the Agent itself, by its Space's Agents, by all", async () => {
    const [spaceId, otherSpace] = [await newSpace(), await newSpace()];
    const [agent, neighbour, stranger] = [await newAgent(spaceId), await newAgent(spaceId), await newAgent(otherSpace)];
    await addTo(agent, 'agent', 'The quokka sleeps.');
    await addTo(agent, 'space', 'The wombat digs.');
    await addTo(agent, 'global', 'The echidna walks.');
    const seen = await Promise.all(
      ['quokka', 'wombat', 'echidna'].map((animal) =>
        Promise.all([agent, neighbour, stranger].map((id) => finds(id, animal))),
      ),
    );
    expect(seen).toEqual([
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
    ]);
  });

  it('is written by editors, global ones by admins, and read by viewers', async () => {
    const spaceId = await newSpace();
    const agent = await newAgent(spaceId);
    const [viewer, editor] = [await platform.newCaller(), await platform.newCaller()];
    for (const [{ userId }, role] of [
      [viewer, 'viewer'],
      [editor, 'editor'],
    ] as const)
      await platform.call(core(`/spaces/${spaceId}/members/${userId}`), { method: 'PUT', body: { role } });
    const documentId = await addTo(agent, 'space', 'The wombat digs.');
    const globalId = await addTo(agent, 'global', 'The echidna walks.');
    const add = (scope: string, key: string) =>
      post(`/knowledge/${agent}/documents`, { name: 'b.md', content: 'x', mimeType: 'text/plain', scope }, key);
    const remove = (id: string, key: string) =>
      platform.call(core(`/knowledge/${agent}/documents/${id}`), { method: 'DELETE', key });
    expect((await platform.call(core(`/knowledge/${agent}/documents/${documentId}`), { key: viewer.key })).status).toBe(
      200,
    );
    expect(
      await Promise.all(
        ['agent', 'space', 'global'].map(async (scope) => [
          (await add(scope, viewer.key)).status,
          (await add(scope, editor.key)).status,
        ]),
      ),
    ).toEqual([
      [403, 202],
      [403, 202],
      [403, 403],
    ]);
    expect([
      (await remove(documentId, viewer.key)).status,
      (await remove(globalId, editor.key)).status,
      (await remove(documentId, editor.key)).status,
    ]).toEqual([403, 403, 204]);
  });
});

it('a global document shows, filters by and loses the tags of the Space that it is reached through, and no others', async () => {
  const [agent, stranger] = [await newAgent(await newSpace()), await newAgent(await newSpace())];
  const newTag = async (agentId: string, name: string): Promise<string> =>
    (await post<{ id: string }>(`/knowledge/${agentId}/tags`, { name })).body.id;
  const [ours, theirs] = [await newTag(agent, 'Ours'), await newTag(stranger, 'Quarterly figures')];
  const documentId = await addTo(agent, 'global', 'The bilby burrows.');
  const at = (agentId: string, more = ''): string => core(`/knowledge/${agentId}/documents/${documentId}${more}`);
  const named = ({ body }: { body: { tags: { name: string }[] } }): string[] => body.tags.map(({ name }) => name);
  type Tagged = { tags: { name: string }[] };
  expect(named(await platform.call<Tagged>(at(stranger, `/tags/${theirs}`), { method: 'POST' }))).toEqual([
    'Quarterly figures',
  ]);
  expect(named(await platform.call<Tagged>(at(agent, `/tags/${ours}`), { method: 'POST' }))).toEqual(['Ours']);
  const read = async (agentId: string): Promise<string[]> => named(await platform.call<Tagged>(at(agentId)));
  expect([await read(agent), await read(stranger)]).toEqual([['Ours'], ['Quarterly figures']]);
  const listed = async (agentId: string, tagId: string) =>
    platform.call<{ items: Tagged[] }>(core(`/knowledge/${agentId}/documents?tagId=${tagId}`));
  expect((await listed(agent, theirs)).body.items).toEqual([]);
  expect((await listed(agent, ours)).text).not.toContain('Quarterly');
  // Who replaces the tags that they see leaves the others.
  expect(named(await platform.call<Tagged>(at(agent), { method: 'PUT', body: { tagIds: [] } }))).toEqual([]);
  expect([await read(agent), await read(stranger)]).toEqual([[], ['Quarterly figures']]);
});

describe('an Agent with a remote model', () => {
  const ask = (agentId: string, body: object) =>
    post<{
      code: string;
      conversationId: string;
      message: { parts: { type: string; text?: string; quote?: string }[] };
      usage: { cost: string };
    }>(`/llm/${agentId}/conversation`, body);
  const latest = async (agentId: string) => {
    const { body } = await platform.call<{ items: { id: string }[] }>(core(`/llm/${agentId}/conversation`));
    return (
      await platform.call<{ items: { role: string; status: string; parts: unknown }[] }>(
        core(`/llm/${agentId}/conversation/${body.items[0]?.id}/messages`),
      )
    ).body.items;
  };

  it('is given its sources and cites them by our numbers, at its price', async () => {
    const agent = await newAgent(await newSpace(), 'big');
    await addTo(agent, 'agent', '# Animals\n\nThe quokka sleeps at noon.');
    let prompt = '';
    provider.answer = (path, body, response) => {
      if (path.endsWith('/embeddings')) return embedByLength(path, body, response);
      prompt = JSON.stringify(body['messages']);
      return answerChat(body, response, 'At noon [1], as nobody knows [9].', {
        prompt_tokens: 1_000,
        completion_tokens: 100,
      });
    };
    const { body } = await ask(agent, { message: 'When does the quokka sleep?' });
    expect(prompt).toContain('The quokka sleeps at noon.');
    expect(body.message.parts).toMatchObject([
      { text: 'At noon [1], as nobody knows.' },
      { type: 'source-document', quote: 'The quokka sleeps at noon.' },
    ]);
    expect(body.usage.cost).toBe('0.0012');
  });

  it.each([
    ['fails', 502, 'upstream_error', (response: { destroy(): void }) => response.destroy()],
    ['does not answer', 504, 'upstream_timeout', () => undefined],
  ])('that %s says so, and loses nothing', async (_, status, code, misbehave) => {
    const agent = await newAgent(await newSpace(), 'big');
    provider.answer = (path, body, response) =>
      path.endsWith('/embeddings') ? embedByLength(path, body, response) : misbehave(response);
    const answer = await ask(agent, { message: 'When does the quokka sleep?' });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.text).not.toContain('127.0.0.1');
    expect(answer.headers['x-log-position']).toMatch(/^\d+$/);
    expect(await latest(agent)).toMatchObject([
      { role: 'assistant', status: 'failed', parts: [] },
      { role: 'user', status: 'complete', parts: [{ text: 'When does the quokka sleep?' }] },
    ]);
  });
});
