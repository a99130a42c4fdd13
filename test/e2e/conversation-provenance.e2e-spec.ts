import { createHash } from 'node:crypto';
import { chunk, completion, DONE, events, json, USAGE, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { startTestGateway, type TestGateway } from './gateway';
import type { Call } from './harness';

const CORE = '/api/v1/core';

interface Part {
  readonly type: string;
  readonly documentId?: string;
  readonly sourceId?: string;
  readonly chunkHash?: string;
  readonly deleted?: true;
}
interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string; readonly parentId: string; readonly parts: readonly Part[] };
  readonly usage: object;
}
interface Provenance {
  readonly agentRevision: number | null;
  readonly prompt: { readonly revision: number; readonly hash: string } | null;
  readonly model: string;
  readonly priceVersion: string | null;
  readonly sampling: object | null;
  readonly chunks: readonly { documentId: string; chunkId: string; hash: string; rank: number; deleted?: true }[];
  readonly toolCalls: readonly object[];
  readonly checkpointId: string | null;
  readonly invocations: readonly { readonly id: string; readonly usage: object }[];
  readonly request?: string;
  readonly missing: readonly string[];
}

let gateway: TestGateway;
let agentId: string;
let reader: string;

beforeAll(async () => {
  gateway = await startTestGateway({ environment: { CONVERSATION_CONTEXT_TOKENS: '700' } });
  gateway.upstream.behaviour = (response, { body }) => {
    const told = JSON.stringify(body);
    if (told.includes('Summarise a conversation between'))
      return json(response, 200, completion({ content: 'They spoke.' }, 'chat'));
    return events(
      response,
      chunk({ role: 'assistant', content: told.includes('<sources>') ? 'They sleep standing up [1].' : 'Yes.' }),
      chunk({}, 'stop'),
      usageChunk(USAGE),
      DONE,
    ).end();
  };
  const { body: space } = await call<{ id: string }>('/spaces', { body: { name: 'Provenance' } });
  const sampling = { temperature: { enabled: true, value: 0.5 } };
  const given = {
    spaceId: space.id,
    name: 'A',
    model: 'chat',
    systemPrompt: 'Be "brief".',
    knowledgeEnabled: true,
    sampling,
  };
  agentId = (await call<{ id: string }>('/agents', { body: given })).body.id;
  // The prompt stays as it was.
  await call(`/agents/${agentId}`, { method: 'PUT', body: { description: 'Changed.' } });
  const made = await call<{ secret: string }>('/api-keys', {
    body: { name: 'reader', permissions: ['llm'], allAgents: true },
  });
  reader = made.body.secret;
});
afterAll(() => gateway.stop());

const call = <T = Record<string, unknown>>(path: string, given: Call = {}) =>
  gateway.platform.call<T>(`${CORE}${path}`, { method: given.body === undefined ? 'GET' : 'POST', ...given });
const ask = async (message: string, more: object = {}): Promise<Turn> => {
  const { status, body, text } = await call<Turn>(`/llm/${agentId}/conversation`, { body: { message, ...more } });
  if (status !== 200) throw new Error(text);
  return body;
};
const pathOf = ({ conversationId, message }: Turn): string =>
  `/llm/${agentId}/conversation/${conversationId}/messages/${message.id}`;
const provenanceOf = async (turn: Turn, key?: string): Promise<Provenance> => {
  const { status, body, text } = await call<Provenance>(`${pathOf(turn)}/provenance`, key === undefined ? {} : { key });
  if (status !== 200) throw new Error(text);
  return body;
};
const document = async (): Promise<string> => {
  const content = 'Zebras sleep standing up. They wake at every sound.';
  const { body } = await call<{ id: string }>(`/knowledge/${agentId}/documents`, {
    body: { name: 'zebras.md', content, mimeType: 'text/markdown' },
  });
  const ready = async () => (await call(`/knowledge/${agentId}/documents/${body.id}`)).body['status'] === 'Ready';
  await until(ready, 'the document');
  return body.id;
};
/** The body of the last call of the provider, as it was sent. */
const lastBody = (): string =>
  JSON.stringify(gateway.upstream.calls.findLast(({ path }) => path.endsWith('completions'))?.body);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('what an answer was made from', () => {
  it('is said by its own event, with the request byte for byte for those who may see it', async () => {
    const documentId = await document();
    const before = await ask('Do "zebras" sleep?\nAt night?');
    const turn = await ask('How do zebras sleep, standing up or not?', { conversationId: before.conversationId });
    const sent = lastBody();
    const calls = gateway.upstream.calls.length;
    const found = await provenanceOf(turn);
    expect(found).toMatchObject({
      agentRevision: 1,
      prompt: { revision: 0, hash: sha256('Be "brief".') },
      model: 'chat',
      priceVersion: expect.any(String),
      sampling: { temperature: 0.5 },
      toolCalls: [],
      checkpointId: null,
      invocations: [{ id: expect.any(String), usage: turn.usage }],
      missing: [],
    });
    const [source] = turn.message.parts.filter(({ type }) => type === 'source-document');
    expect(found.chunks).toContainEqual(
      expect.objectContaining({ documentId, chunkId: source?.sourceId, hash: source?.chunkHash, rank: 1 }),
    );
    expect(Buffer.from(found.request ?? '', 'base64').toString()).toBe(sent);
    expect(gateway.upstream.calls).toHaveLength(calls);
    const { request, missing } = await provenanceOf(turn, reader);
    expect([request, missing]).toEqual([undefined, []]);
    // What was said stands in the log once.
    const { text } = await gateway.platform.call(
      `/api/v1/audit/events?stream=conversation-${turn.conversationId}&type=AssistantMessageAdded&content=true`,
    );
    expect(text).not.toContain('At night?');

    await call(`/knowledge/${agentId}/documents/${documentId}`, { method: 'DELETE' });
    const after = await provenanceOf(turn);
    expect(after.request).toBeUndefined();
    expect(after.missing).toEqual(['request', `document:${documentId}`]);
    expect(after.chunks.find((each) => each.documentId === documentId)).toMatchObject({ deleted: true });
  });

  it('names what is missing of the request when messages that it holds were deleted', async () => {
    const first = await ask('One word?');
    const turn = await ask('Another word?', { conversationId: first.conversationId });
    expect((await provenanceOf(turn)).request).toBeDefined();
    expect((await call(pathOf(first), { method: 'DELETE' })).status).toBe(204);
    const found = await provenanceOf(turn);
    expect([found.request, found.missing]).toEqual([undefined, ['request', `message:${first.message.id}`]]);
    for (const id of [turn.message.parentId, first.message.parentId])
      await call(pathOf(first).replace(first.message.id, id), { method: 'DELETE' });
    expect((await provenanceOf(turn)).missing).toEqual([
      'request',
      ...[first.message.parentId, first.message.id, turn.message.parentId].map((id) => `message:${id}`),
    ]);
  });

  it('names the checkpoint that it was made from, and opens its request with the summary', async () => {
    const long = 'question '.repeat(150);
    let turn = await ask(long);
    for (let index = 0; index < 5; index += 1) turn = await ask(long, { conversationId: turn.conversationId });
    const found = await provenanceOf(turn);
    const { body } = await call<{ items: { id: string }[] }>(
      `/llm/${agentId}/conversation/${turn.conversationId}/checkpoints`,
    );
    expect(body.items.map(({ id }) => id)).toContain(found.checkpointId);
    expect(Buffer.from(found.request ?? '', 'base64').toString()).toBe(lastBody());
    expect(lastBody()).toContain('They spoke.');
    // A summary goes with what it was made from.
    const { body: all } = await call<{ items: { id: string }[] }>(
      `/llm/${agentId}/conversation/${turn.conversationId}/messages?limit=50`,
    );
    await call(pathOf(turn).replace(turn.message.id, all.items.at(-1)?.id ?? ''), { method: 'DELETE' });
    const { checkpointId, missing } = await provenanceOf(turn);
    expect([checkpointId, missing]).toEqual([found.checkpointId, ['request', `checkpoint:${found.checkpointId}`]]);
  });

  it('is nobody else’s, and there is none of a question', async () => {
    const turn = await ask('Mine?');
    const stranger = await gateway.platform.newCaller({ permissions: ['llm'], allAgents: true });
    const path = `${pathOf(turn)}/provenance`;
    expect((await call(path, { key: stranger.key })).status).toBe(404);
    for (const id of [turn.message.parentId, '01900000-0000-7000-8000-00000000000f'])
      expect((await call(path.replace(turn.message.id, id))).status).toBe(404);
  });
});
