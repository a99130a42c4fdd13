import { makeLogger } from '@app/http';
import { EVER } from '../fixtures/ever';
import { spoken } from '../fixtures/spoken';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';

/** Conversations that are in the memory of one process, and nowhere else. */

const CORE = '/api/v1/core';
let gateway: TestGateway;
let path: string;
let agentId: string;

beforeAll(async () => {
  gateway = await startTestGateway({ logger: makeLogger('silent') });
  const agent = await gateway.platform.call<{ id: string }>(`${CORE}/agents`, {
    method: 'POST',
    body: { name: 'Guide', model: 'chat', systemPrompt: 'Be brief.' },
  });
  agentId = agent.body.id;
  path = `${CORE}/llm/${agentId}/conversation`;
});
afterAll(() => gateway.stop());

interface Message {
  readonly id: string;
  readonly parentId: string | null;
  readonly role: string;
  readonly status: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
}
interface Answered {
  readonly conversationId: string;
  readonly message: Message;
  readonly usage: { readonly totalTokens: number } | null;
}

const says = (text: string): void => {
  gateway.upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE).end();
};
const ask = (body: object, key?: string) =>
  gateway.platform.call<Answered>(path, {
    method: 'POST',
    ...(key === undefined ? {} : { key }),
    body: { message: 'Why?', kind: 'incognito', ...body },
  });
const begin = async (body: object = {}): Promise<Answered> => {
  const { status, text, body: answer } = await ask(body);
  if (status !== 200) throw new Error(text);
  return answer;
};
const messagesOf = (id: string, query = '') =>
  gateway.platform.call<{ items: readonly Message[]; nextCursor: string | null }>(`${path}/${id}/messages${query}`);
const streamed = (body: object) =>
  fetch(`${gateway.platform.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Why?', kind: 'incognito', stream: true, ...body }),
  });
const textIn = (heard: string): string =>
  [...heard.matchAll(/"type":"text-delta".*?"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');

describe('an incognito conversation', () => {
  it('is begun, gone on with, read and deleted', async () => {
    says('Because.');
    const first = await begin({ message: 'What is it?' });
    expect(first.message).toMatchObject({ role: 'assistant', status: 'complete', parts: [{ text: 'Because.' }] });
    expect(first.usage?.totalTokens).toBeGreaterThan(0);
    const { conversationId } = first;
    expect(conversationId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const second = await ask({ conversationId, kind: undefined, message: 'And then?' });
    expect(second.status).toBe(200);
    const sent = gateway.upstream.calls.at(-1)?.body['messages'] as { role: string; content: string }[];
    expect(sent.filter(({ role }) => role !== 'system').map(({ content }) => content)).toEqual([
      'What is it?',
      'Because.',
      'And then?',
    ]);
    const { items } = (await messagesOf(conversationId)).body;
    for (const item of [first.message, ...items]) expect(item).toMatchObject({ channel: null, feedback: null });
    expect(items.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
      ['assistant', 'Because.'],
      ['user', 'And then?'],
      ['assistant', 'Because.'],
      ['user', 'What is it?'],
    ]);
    expect((await gateway.platform.call(`${path}/${conversationId}/messages/${items[3]?.id}`)).body).toEqual(items[3]);
    expect((await gateway.platform.call(`${path}/${conversationId}`)).body).toMatchObject({
      id: conversationId,
      kind: 'incognito',
      title: 'Incognito conversation',
      messageCount: 4,
    });
    const page = (await messagesOf(conversationId, '?limit=3')).body;
    const rest = (await messagesOf(conversationId, `?limit=3&cursor=${page.nextCursor}`)).body;
    expect([...page.items, ...rest.items]).toEqual(items);
    expect(rest.nextCursor).toBeNull();
    expect((await gateway.platform.call(`${path}/${conversationId}`, { method: 'DELETE' })).status).toBe(204);
    for (const [method, url, body] of [
      ['GET', '', undefined],
      ['GET', '/messages', undefined],
      ['GET', '/stream', undefined],
      ['POST', '/stop', undefined],
      ['DELETE', '', undefined],
      ['PUT', '', { title: 'T' }],
    ] as const)
      expect([
        method,
        url,
        (await gateway.platform.call(`${path}/${conversationId}${url}`, { method, ...(body && { body }) })).status,
      ]).toEqual([method, url, 404]);
    expect((await ask({ conversationId })).status).toBe(404);
    expect((await ask({ conversationId, kind: undefined })).status).toBe(404);
  });

  it('is listed nowhere, and searched for in vain', async () => {
    says('Yes.');
    const { conversationId } = await begin({ message: 'Is it listed?' });
    for (const query of ['', '?q=listed', '?kind=private', '?archived=true']) {
      const { text } = await gateway.platform.call(`${path}${query}`);
      expect(text).not.toContain(conversationId);
    }
    expect((await gateway.platform.call(`${path}?kind=incognito`)).status).toBe(400);
  });

  it('streams, and goes on behind any event from the beginning to its end', async () => {
    const call = spoken(gateway.upstream);
    const response = await streamed({});
    (await call(0)).say('One ', 'two ');
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes('two ')) heard += (await reader.read()).value ?? '';
    const id = /"conversationId":"([^"]+)"/.exec(heard)?.[1] as string;
    const [last] = [...heard.matchAll(/^id: (.+)$/gm)].map(([, each]) => each as string).slice(-1);
    await reader.cancel();
    const meanwhile = (await messagesOf(id)).body.items[0];
    expect(meanwhile).toMatchObject({ status: 'streaming', parts: [{ type: 'text', text: 'One two ' }] });
    expect((await ask({ conversationId: id })).body).toMatchObject({ code: 'turn_in_progress' });
    const follow = (after: string) =>
      fetch(`${gateway.platform.url}${path}/${id}/stream${after}`, { headers: { 'x-api-key': ADMIN_KEY } });
    const [behind, whole] = [await follow(`?after=${last}`), await follow('')];
    (await call(0)).say('three');
    (await call(0)).end();
    expect(textIn(await behind.text())).toBe('three');
    expect(textIn(await whole.text())).toBe('One two three');
    // Once it is finished, too.
    expect(textIn(await (await follow(`?after=${last}`)).text())).toBe('three');
    expect((await follow('')).status).toBe(204);
  });

  it('is stopped with what was said, and ends in the middle when it is deleted', async () => {
    const call = spoken(gateway.upstream);
    const stopped = streamed({});
    (await call(0)).say('Half');
    const response = await stopped;
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes('Half')) heard += (await reader.read()).value ?? '';
    const id = /"conversationId":"([^"]+)"/.exec(heard)?.[1] as string;
    expect((await gateway.platform.call(`${path}/${id}/stop`, { method: 'POST' })).body).toEqual({ stopped: true });
    await until(async () => (await messagesOf(id)).body.items[0]?.status === 'stopped', 'the end of the answer');
    expect((await messagesOf(id)).body.items[0]).toMatchObject({ parts: [{ text: 'Half' }] });
    expect((await gateway.platform.call(`${path}/${id}/stop`, { method: 'POST' })).body).toEqual({ stopped: false });

    const next = streamed({ conversationId: id });
    (await call(1)).say('More');
    const open = (await next).text();
    const cuts = gateway.upstream.cuts.length;
    await gateway.platform.call(`${path}/${id}`, { method: 'DELETE' });
    expect(await open).toContain('"errorText":"not_found"');
    await until(() => gateway.upstream.cuts.length > cuts, 'the provider to hear of it');
    expect((await messagesOf(id)).status).toBe(404);
  });

  it('has branches, and one answer a branch', async () => {
    says('A.');
    const { conversationId, message } = await begin();
    const call = spoken(gateway.upstream);
    const first = ask({ conversationId });
    await call(0);
    expect((await ask({ conversationId })).body).toMatchObject({ code: 'turn_in_progress' });
    // Behind the question before, beside its answer.
    const beside = ask({ conversationId, parentId: message.parentId as string });
    (await call(1)).end();
    expect((await beside).status).toBe(200);
    (await call(0)).end();
    expect((await first).status).toBe(200);
    expect((await ask({ conversationId, parentId: conversationId })).status).toBe(404);
  });

  it('is of one kind', async () => {
    says('A.');
    const { conversationId } = await begin();
    for (const kind of ['normal', 'private'])
      expect((await ask({ conversationId, kind })).body).toMatchObject({ code: 'conflict' });
    const normal = await gateway.platform.call<Answered>(path, { method: 'POST', body: { message: 'Open?' } });
    expect((await ask({ conversationId: normal.body.conversationId })).body).toMatchObject({ code: 'conflict' });
  });

  it('tells no stranger, and nobody after its end, of which kind it was', async () => {
    const { conversationId } = await begin();
    const normal = { method: 'POST', body: { message: 'Why?', conversationId, kind: 'normal' } } as const;
    expect((await ask({ conversationId: '01900000-0000-7000-8000-0000000000ff' })).status).toBe(404);
    await gateway.platform.call(`${path}/${conversationId}`, { method: 'DELETE' });
    expect((await gateway.platform.call(path, normal)).status).toBe(404);
  });
  it('is unknown to everybody else, and with other Agents', async () => {
    says('A.');
    const { conversationId, message } = await begin({ message: 'Mine?' });
    const stranger = await gateway.platform.newCaller();
    const spaceId = (await gateway.platform.call<{ spaceId: string }>(`${CORE}/agents/${agentId}`)).body.spaceId;
    const other = await gateway.platform.call<{ id: string }>(`${CORE}/agents`, {
      method: 'POST',
      body: { name: 'Other', model: 'chat', spaceId },
    });
    const before = gateway.upstream.calls.length;
    const foreign = `${CORE}/llm/${other.body.id}/conversation/${conversationId}`;
    for (const [url, key] of [
      [`${path}/${conversationId}`, stranger.key],
      [foreign, ADMIN_KEY],
    ] as const)
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/messages'],
        ['GET', `/messages/${message.id}`],
        ['GET', `/stream?messageId=${message.id}`],
        ['POST', '/stop'],
        ['DELETE', ''],
      ] as const)
        expect([url, rest, (await gateway.platform.call(url + rest, { method, key })).status]).toEqual([
          url,
          rest,
          404,
        ]);
    expect((await ask({ conversationId }, stranger.key)).status).toBe(404);
    expect(gateway.upstream.calls.length).toBe(before);
    expect((await messagesOf(conversationId)).body.items).toHaveLength(2);
  });

  it('is asked once by a repeat under the same Idempotency-Key', async () => {
    says('Once.');
    const before = gateway.upstream.calls.length;
    const post = (message: string) =>
      gateway.platform.call<Answered>(path, {
        method: 'POST',
        headers: { 'idempotency-key': 'incognito-1' },
        body: { message, kind: 'incognito' },
      });
    const [first, again] = [await post('Once?'), await post('Once?')];
    expect(again.body).toEqual(first.body);
    expect(gateway.upstream.calls.length).toBe(before + 1);
    expect(await post('Twice?')).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  it('counts what it used, without saying what for', async () => {
    says('Counted.');
    const agent = await gateway.platform.call<{ id: string }>(`${CORE}/agents`, {
      method: 'POST',
      body: { name: 'Counted', model: 'chat', systemPrompt: 'Be brief.' },
    });
    await gateway.platform.call(`${CORE}/llm/${agent.body.id}/conversation`, {
      method: 'POST',
      body: { message: 'Count this?', kind: 'incognito' },
    });
    const path = `${CORE}/usage/invocations?${EVER}&agentId=${agent.body.id}`;
    const invocations = () => gateway.platform.call<{ items: Record<string, unknown>[] }>(path);
    // The question is searched for, and answered.
    await until(async () => (await invocations()).body.items.length === 2, 'the invocations');
    const { text, body } = await invocations();
    expect(body.items.map(({ kind, outcome }) => `${String(kind)} ${String(outcome)}`).toSorted()).toEqual([
      'chat ok',
      'embedding ok',
    ]);
    expect(text).not.toMatch(/Count this|Counted\.|conversation/);
  });

  it('says a failure, and keeps the question for another try', async () => {
    gateway.upstream.behaviour = (response) => void response.writeHead(400).end('{"error":{"message":"secret words"}}');
    const failed = await ask({ message: 'Fail?' });
    expect(failed.status).toBeGreaterThanOrEqual(400);
    expect(failed.text).not.toContain('secret words');
  });
});
