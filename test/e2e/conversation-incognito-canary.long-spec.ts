import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesWhere } from '../fixtures/files-under';
import { chunk, DONE, events, startUpstreamDouble, type UpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { type Child, startChild } from './child';
import { ADMIN_KEY } from './harness';
import { writeModelsFile } from '../fixtures/models-file';

/** What is asked and answered in an incognito conversation stands nowhere while it is there, nor behind it: not in a file, a line, a trace, a metric or an answer about something else. */

const CORE = '/api/v1/core';
/** Said in incognito conversations alone. */
const CANARIES = ['Glimmerquoth', 'Vandelstraek', 'Ozymorphil', 'Threnodaric', 'Kestrelbaum'] as const;
/** Said in an ordinary one: found, so whoever looks for the others would find them too. */
const ORDINARY = 'Plaintalkish';

let folder: string;
let upstream: UpstreamDouble;
let collector: Server;
let product: Child;
const traces: string[] = [];
const answers: string[] = [];

const call = async <T = { id: string }>(path: string, method = 'GET', body?: object, headers = {}) => {
  const response = await fetch(product.url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: (text.startsWith('{') ? JSON.parse(text) : undefined) as T };
};
/** A word as it could stand somewhere. */
const formsOf = (word: string): readonly Buffer[] => [
  Buffer.from(word),
  Buffer.from(word.toLowerCase()),
  Buffer.from(word, 'utf16le'),
  Buffer.from(Buffer.from(word).toString('hex')),
  // At any of its three places in base64.
  ...[0, 1, 2].map((place) =>
    Buffer.from(
      Buffer.from(`${' '.repeat(place)}${word}`)
        .toString('base64')
        .slice(place + 2, -4),
    ),
  ),
];
const holds = (bytes: Buffer, word: string): boolean => formsOf(word).some((form) => bytes.includes(form));
const filesWith = (...words: readonly string[]): readonly string[] =>
  [join(folder, 'data'), join(folder, 'temporary')].flatMap((place) =>
    filesWhere(place, (bytes) => words.some((word) => holds(bytes, word))),
  );

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'canary-'));
  mkdirSync(join(folder, 'temporary'));
  upstream = await startUpstreamDouble();
  upstream.behaviour = (response) =>
    void events(
      response,
      chunk({ role: 'assistant', content: `It is ${CANARIES[1]} ` }),
      chunk({ content: `and ${CANARIES[2]} [1].` }),
      chunk({}, 'stop'),
      usageChunk(),
      DONE,
    ).end();
  collector = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      traces.push(body);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const file = writeModelsFile(folder, upstream, [
    { key: 'm', kind: 'chat', pricing: { input: '1', output: '1', currency: 'USD' } },
  ]);
  product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: join(folder, 'data'),
    TMPDIR: join(folder, 'temporary'),
    MODELS_FILE: file,
    PORT: '0',
    LOG_LEVEL: 'trace',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  });
});
afterAll(async () => {
  await product.stop();
  await upstream.stop();
  collector.close();
  rmSync(folder, { recursive: true, force: true });
});

it('is in memory alone, whatever is asked of it and however it ends', async () => {
  const agentId = (
    await call(`${CORE}/agents`, 'POST', {
      name: 'Guide',
      model: 'm',
      knowledgeEnabled: true,
      systemPrompt: 'Be brief.',
    })
  ).body.id;
  const documentId = (
    await call(`${CORE}/knowledge/${agentId}/documents`, 'POST', {
      name: 'guide.md',
      content: '# Guide\n\nTurn the key to the right, then wait for the lamp.',
      mimeType: 'text/markdown',
    })
  ).body.id;
  await until(
    async () =>
      (await call<{ status: string }>(`${CORE}/knowledge/${agentId}/documents/${documentId}`)).body.status === 'Ready',
    'the document',
  );
  const path = `${CORE}/llm/${agentId}/conversation`;
  const ask = (message: unknown, more: object = {}, headers = {}) =>
    call<{ conversationId: string; message: { parts: { type: string }[] } }>(
      path,
      'POST',
      { kind: 'incognito', message, ...more },
      headers,
    );

  // Asked in each way, with Knowledge, with a key for repeats, and repeated.
  const key = { 'idempotency-key': 'canary' };
  const first = await ask(`Where is the key of the lamp, ${CANARIES[0]}?`, {}, key);
  expect(first.status).toBe(200);
  // What it cites is found in Knowledge.
  expect(first.body.message.parts.map(({ type }) => type)).toEqual(['text', 'source-document']);
  expect((await ask(`Where is the key of the lamp, ${CANARIES[0]}?`, {}, key)).text).toBe(first.text);
  const { conversationId } = first.body;
  const stream = await ask(
    { parts: [{ type: 'text', text: CANARIES[3] }] },
    { conversationId, stream: true },
    {
      'idempotency-key': 'streamed',
    },
  );
  expect(stream.text).toContain(CANARIES[1]);
  expect((await call(`${path}/${conversationId}/messages`)).text).toContain(CANARIES[3]);
  // Rejected in each way.
  for (const body of [
    { message: CANARIES[4], kind: 'incognito', unknown: CANARIES[4] },
    { message: CANARIES[4], kind: 'private', conversationId },
    { message: CANARIES[4], kind: 'incognito', parentId: documentId },
    { message: { role: CANARIES[4], parts: [{ type: 'text', text: CANARIES[4] }] }, kind: 'incognito' },
  ])
    expect(
      (await call(path, 'POST', body, { 'idempotency-key': JSON.stringify(Object.keys(body)) })).status,
    ).toBeGreaterThan(399);
  // Failed in the middle, with the text of the question in what the provider says.
  const behaves = upstream.behaviour;
  upstream.behaviour = (response, { body }) => {
    events(
      response,
      chunk({ role: 'assistant', content: CANARIES[2] }),
      JSON.stringify({ error: { message: JSON.stringify(body) } }),
    ).end();
  };
  await ask(`Fail, ${CANARIES[0]}!`, {}, { 'idempotency-key': 'fails' });
  upstream.behaviour = (response, { body }) => void response.writeHead(500).end(JSON.stringify(body));
  await ask(`Fail, ${CANARIES[0]}!`);
  upstream.behaviour = behaves;
  expect((await call(`${path}/${conversationId}`, 'DELETE')).status).toBe(204);
  expect((await ask(CANARIES[3], { conversationId }, { 'idempotency-key': 'behind its end' })).status).toBe(404);
  const open = await ask(`${CANARIES[0]}, stay with the process`);
  expect(open.status).toBe(200);
  // An ordinary one shows that the search would find something.
  upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: ORDINARY }), chunk({}, 'stop'), usageChunk(), DONE).end();
  await call(path, 'POST', { message: `Say ${ORDINARY}` });

  for (const about of [
    '/metrics',
    '/health',
    `${path}`,
    `${path}?q=${CANARIES[0]}`,
    `${CORE}/usage`,
    `${CORE}/usage/invocations?limit=100`,
    '/api/v1/audit/events?limit=100&content=true&raw=true',
    '/api/v1/audit/events?limit=100&order=asc',
    '/api/v1/operations/dead-letters',
  ])
    answers.push((await call(about)).text);
  const events100 = answers.find((text) => text.includes('ConversationStarted')) ?? '';
  expect(events100).toContain(ORDINARY);
  expect(filesWith(ORDINARY)).not.toEqual([]);
  expect(filesWith(...CANARIES)).toEqual([]);
  await product.stop();
  expect(filesWith(...CANARIES)).toEqual([]);
  const told: Readonly<Record<string, readonly string[]>> = { answers, traces, output: [product.output()] };
  expect(traces.join('')).toContain('POST /api/v1/core/llm/:agentId/conversation');
  expect(product.output()).toContain('Answer failed.');
  for (const [where, texts] of Object.entries(told))
    for (const word of CANARIES)
      expect([where, word, texts.some((text) => holds(Buffer.from(text), word))]).toEqual([where, word, false]);
  // Nor a hash of what was sent, by which a guess could be proven.
  const sent = JSON.stringify({ kind: 'incognito', message: `Where is the key of the lamp, ${CANARIES[0]}?` });
  for (const encoding of ['hex', 'base64'] as const) {
    const digest = createHash('sha256').update(sent).digest(encoding);
    expect(filesWhere(folder, (bytes) => bytes.includes(digest))).toEqual([]);
  }
  expect(upstream.calls.some(({ body }) => JSON.stringify(body).includes(CANARIES[3]))).toBe(true);
});
