import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IncognitoIds } from '@app/conversations';
import { Processes } from '@app/coordination';
import { makeLogger, TransientRequests } from '@app/http';
import { DiscoveryService } from '@nestjs/core';
import { IncognitoRequests } from '../../apps/api/src/core/llm/incognito-requests';
import { chunk, DONE, events, startUpstreamDouble, type UpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

/**
 * Two processes of one instance: with the same users, keys and secret, each on its own copy of them. What they know of each other is the test's; all
 * else is the product's, over HTTP.
 */

const CORE = '/api/v1/core';
const CANARY = 'Marrowquist';
const folder = mkdtempSync(join(tmpdir(), 'two-'));
/** What every process says of itself. */
const living: { id: string; url?: string }[] = [];
const lines: string[] = [];
let upstream: UpstreamDouble;
let first: TestPlatform;
let second: TestPlatform;
let path: string;
let member: { userId: string; key: string; keyId: string };

const knowingEachOther = {
  inject: [IncognitoIds, TransientRequests, Processes, DiscoveryService],
  factory: (ids: IncognitoIds, transients: TransientRequests, own: Processes, discovery: DiscoveryService) => {
    living.push({ id: own.id });
    const processes = { id: own.id, living: () => living, heartbeat: async () => undefined };
    // The cast: only what is called is there.
    return new IncognitoRequests(ids, processes as unknown as Processes, transients, discovery);
  },
};
const start = (name: string): Promise<TestPlatform> =>
  startTestPlatform({
    listen: true,
    dataDir: join(folder, name),
    environment: { MODELS_FILE: join(folder, 'models.json') },
    logger: makeLogger('trace', { write: (line) => void lines.push(line) }),
    change: (builder) => builder.overrideProvider(IncognitoRequests).useFactory(knowingEachOther),
  });

beforeAll(async () => {
  upstream = await startUpstreamDouble();
  writeModelsFile(folder, upstream, [{ key: 'chat', kind: 'chat', pricing: 'free' }]);
  const made = await startTestPlatform({
    dataDir: join(folder, 'first'),
    environment: { MODELS_FILE: join(folder, 'models.json') },
  });
  const agent = await made.call<{ id: string; spaceId: string }>(`${CORE}/agents`, {
    method: 'POST',
    body: { name: 'Guide', model: 'chat', systemPrompt: 'Be brief.', knowledgeEnabled: false },
  });
  path = `${CORE}/llm/${agent.body.id}/conversation`;
  member = await made.newCaller();
  await made.stop({ keep: true });
  cpSync(join(folder, 'first'), join(folder, 'second'), { recursive: true });
  first = await start('first');
  second = await start('second');
  for (const [index, { url }] of [first, second].entries()) Object.assign(living[index] as object, { url });
});
afterAll(async () => {
  await Promise.all([first.stop({ keep: true }), second.stop({ keep: true })]);
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const says = (text: string): void => {
  upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE).end();
};
interface Answered {
  readonly conversationId: string;
  readonly message: { readonly id: string };
}
const begin = async (at = first): Promise<string> => {
  says(`It is ${CANARY}.`);
  const answer = await at.call<Answered>(path, { method: 'POST', body: { message: CANARY, kind: 'incognito' } });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.conversationId;
};
const askAt = (at: TestPlatform, conversationId: string, more: object = {}, headers = {}) =>
  at.call<Answered>(path, { method: 'POST', body: { conversationId, message: CANARY, ...more }, headers });

describe('another process', () => {
  it('forwards what it is asked: questions, lists, reads, stops and deletions', async () => {
    const id = await begin();
    expect((await askAt(second, id)).status).toBe(200);
    const [here, there] = [await first.call(`${path}/${id}/messages`), await second.call(`${path}/${id}/messages`)];
    expect(there).toMatchObject({ status: 200, body: here.body });
    expect((here.body['items'] as object[]).length).toBe(4);
    expect((await second.call(`${path}/${id}`)).body).toEqual((await first.call(`${path}/${id}`)).body);
    expect((await second.call(`${path}/${id}/stop`, { method: 'POST' })).body).toEqual({ stopped: false });
    expect((await second.call(`${path}/${id}/messages?limit=0`)).status).toBe(400);
    expect((await second.call(`${path}/${id}`, { method: 'PUT', body: { title: 'T' } })).status).toBe(409);
    expect(await second.call(`${path}/${id}`, { method: 'DELETE' })).toMatchObject({ status: 204, text: '' });
    for (const at of [first, second]) expect((await at.call(`${path}/${id}`)).status).toBe(404);
  });

  it('answers as the one that has it what an incognito conversation has none of: what needs the log', async () => {
    const id = await begin();
    const message = ((await first.call(`${path}/${id}/messages`)).body['items'] as { id: string }[])[0]?.id;
    const one = `${path}/${id}/messages/${message}`;
    for (const [method, url, body] of [
      ['PUT', `${path}/${id}`, { title: CANARY, archived: true }],
      ['POST', `${path}/${id}/compact`, undefined],
      ['GET', `${path}/${id}/checkpoints`, undefined],
      ['GET', `${one}/provenance`, undefined],
      ['DELETE', one, undefined],
      ['POST', `${one}/tools/call-1`, { approved: true }],
      ['POST', `${one}/feedback`, { rating: 'up', comment: CANARY }],
    ] as const)
      for (const at of [first, second]) {
        const told = await at.call(url, { method, ...(body && { body }) });
        expect([method, url, told.status, told.body['code']]).toEqual([method, url, 409, 'conflict']);
        expect(told.text).toContain('is not stored');
        // Nobody else learns of which kind it is.
        const stranger = await at.call(url, { method, ...(body && { body }), key: member.key });
        expect([method, url, stranger.status]).toEqual([method, url, 404]);
      }
    expect((await second.call(`${path}/${id}/messages`)).body['items']).toHaveLength(2);
  });

  it('regenerates an answer where the conversation is', async () => {
    const id = await begin();
    const [answer] = (await first.call(`${path}/${id}/messages`)).body['items'] as { id: string; parentId: string }[];
    says('Once more.');
    const again = await second.call<{ message: { id: string; parentId: string } }>(
      `${path}/${id}/messages/${answer?.id}/regenerate`,
      { method: 'POST', body: {} },
    );
    expect(again).toMatchObject({ status: 200, body: { message: { parentId: answer?.parentId } } });
    expect(again.body.message.id).not.toBe(answer?.id);
    expect((await first.call(`${path}/${id}/messages`)).body['items']).toHaveLength(3);
  });

  it('streams what is said as it is said, from any place, and to an end', async () => {
    let say: (text: string) => void = () => undefined;
    let end: () => void = () => undefined;
    upstream.behaviour = (response) => {
      say = (text) => void events(response, chunk({ content: text }));
      end = () => void events(response, chunk({}, 'stop'), usageChunk(), DONE).end();
      events(response, chunk({ role: 'assistant', content: 'One ' }));
    };
    const started = await fetch(first.url + path, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ message: CANARY, kind: 'incognito', stream: true }),
    });
    const reader = (started.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let heard = '';
    while (!heard.includes('One ')) heard += (await reader.read()).value ?? '';
    const id = /"conversationId":"([^"]+)"/.exec(heard)?.[1] as string;
    const last = [...heard.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] as string;
    await reader.cancel();
    const follow = (after: string) =>
      fetch(`${second.url}${path}/${id}/stream${after}`, { headers: { 'x-api-key': ADMIN_KEY } });
    const [rest, whole] = [await follow(`?after=${last}`), await follow('')];
    expect(rest.headers.get('content-type')).toContain('text/event-stream');
    expect(rest.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const restReader = (rest.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    say('two ');
    let more = '';
    while (!more.includes('two ')) more += (await restReader.read()).value ?? '';
    expect(more).not.toContain('One');
    // A reader that leaves ends only its stream.
    await restReader.cancel();
    say('three.');
    end();
    expect(await whole.text()).toMatch(/One[^]*two[^]*three\.[^]*\[DONE\]/);
    await second.call(`${path}/${id}`, { method: 'DELETE' });
  });

  it('keeps nothing of what it forwards, a key for repeats included', async () => {
    const id = await begin();
    const headers = { 'idempotency-key': 'forwarded' };
    const [once, again] = [await askAt(second, id, {}, headers), await askAt(second, id, {}, headers)];
    expect(again.body).toEqual(once.body);
    const kept = await Promise.all(
      [first, second].map(({ platform }) => platform.host.stores.coordination.list('idempotency/', { limit: 100 })),
    );
    expect(kept.flat()).toEqual([]);
    expect(lines.some((line) => line.includes(CANARY))).toBe(false);
    expect((await askAt(second, id, { message: 'Another' }, headers)).body).toMatchObject({
      code: 'idempotency_key_reused',
    });
  });

  it('asks who it is for itself: nobody reads by the way of another process what is not theirs', async () => {
    const id = await begin();
    for (const [method, url] of [
      ['GET', `${path}/${id}`],
      ['GET', `${path}/${id}/messages`],
      ['DELETE', `${path}/${id}`],
      ['GET', `${path.replace(/llm\/[^/]+/, 'llm/01900000-0000-7000-8000-00000000dead')}/${id}`],
    ] as const) {
      expect((await second.call(url, { method, key: member.key })).status).toBe(404);
      expect((await second.call(url, { method, key: null })).status).toBe(401);
    }
    expect((await first.call(`${path}/${id}`)).status).toBe(200);
  });

  it('that is told so by no process of the instance believes no header', async () => {
    const id = await begin();
    const forged = [
      { 'x-process-signature': '0'.repeat(64) },
      { 'x-process-signature': '' },
      { 'x-forwarded-by': living[0]?.id ?? '', 'x-user-id': member.userId },
    ];
    // It still forwards, and to the same place; to the process that has it a forged header means nothing.
    for (const headers of forged)
      for (const at of [first, second]) {
        expect((await at.call(`${path}/${id}`, { headers })).status).toBe(200);
        expect((await at.call(`${path}/${id}`, { headers, key: member.key })).status).toBe(404);
        expect((await at.call(`${path}/${id}`, { headers, key: null })).status).toBe(401);
      }
  });

  it('sends a signature that opens nothing else, and goes no further', async () => {
    const PAGE = '{"items":[],"nextCursor":null}';
    const seen: { headers: Record<string, unknown>; url: string }[] = [];
    const trap = createServer((request, response) => {
      seen.push({ headers: request.headers, url: String(request.url) });
      const type = String(request.url).endsWith('/messages') ? 'application/json' : 'text/plain';
      response.writeHead(200, { 'content-type': type, 'set-cookie': 'a=b', 'x-other': '1' }).end(PAGE);
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const id = await begin();
    const real = living[0]?.url as string;
    Object.assign(living[0] as object, { url: `http://127.0.0.1:${(trap.address() as AddressInfo).port}` });
    try {
      const answer = await second.call(`${path}/${id}/messages`, { headers: { 'x-private': CANARY } });
      expect(answer).toMatchObject({ status: 200, text: PAGE });
      expect([answer.headers['set-cookie'], answer.headers['x-other']]).toEqual([undefined, undefined]);
      const [{ headers }] = seen as [(typeof seen)[number]];
      expect(headers['x-private']).toBeUndefined();
      const taken = {
        'x-process-signature': String(headers['x-process-signature']),
        'x-request-id': String(headers['x-request-id']),
      };
      // With the signature of one request: not another path, nor another caller; and never a third process.
      expect((await second.call(`${path}/${id}/messages`, { headers: taken })).status).toBe(404);
      expect(seen).toHaveLength(1);
      await second.call(`${path}/${id}`, { headers: taken });
      await second.call(`${path}/${id}/messages`, { headers: taken, key: member.key });
      expect(seen.map(({ url }) => url).slice(1)).toEqual([`${path}/${id}`, `${path}/${id}/messages`]);
    } finally {
      Object.assign(living[0] as object, { url: real });
      trap.closeAllConnections();
      await new Promise((resolve) => trap.close(resolve));
    }
  });

  it('answers 503 without an address, or without an answer there, and 404 once the process is gone', async () => {
    const id = await begin();
    const own = living[0] as { id: string; url?: string };
    const url = own.url as string;
    delete own.url;
    expect(await second.call(`${path}/${id}`)).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect((await second.call(`${path}/${id}`)).text).toContain('PROCESS_URL');
    expect(await askAt(second, id)).toMatchObject({ status: 503, body: { outcome: 'none' } });
    own.url = 'http://127.0.0.1:1';
    expect(await askAt(second, id)).toMatchObject({ status: 503, body: { code: 'unavailable', outcome: 'none' } });
    living.shift();
    expect((await second.call(`${path}/${id}`)).status).toBe(404);
    expect((await askAt(second, id, { kind: 'incognito' })).status).toBe(404);
    expect((await askAt(second, id)).status).toBe(404);
    living.unshift({ ...own, url });
    expect((await second.call(`${path}/${id}`)).status).toBe(200);
  });

  it('takes a session for what the process that has the conversation knows of it', async () => {
    const id = await begin();
    const signedIn = await second.call('/api/v1/session', { method: 'POST', key: null, body: { apiKey: ADMIN_KEY } });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] as string;
    // The other's copy of the log has no such session: only who is known there is let in.
    const answer = await second.call(`${path}/${id}`, { key: null, headers: { cookie } });
    expect(answer.status).toBe(401);
    expect((await second.call(`${path}/${id}`)).status).toBe(200);
  });
});
