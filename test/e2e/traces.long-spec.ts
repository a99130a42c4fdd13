import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { startChild } from './child';
import { ADMIN_KEY } from './harness';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[];
}

const CANARY = 'canarybird';
const received: string[] = [];
let collector: Server;

beforeAll(async () => {
  collector = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received.push(body);
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
});
afterAll(() => collector.close());

const startTraced = async (endpoint: string) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'traces-'));
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  });
  return { dataDir, product };
};

test('a write is one trace: the request, its command, the append, the views', async () => {
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const { dataDir, product } = await startTraced(endpoint);
  const space = await fetch(`${product.url}/api/v1/core/spaces`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: CANARY }),
  });
  expect(space.status).toBe(201);
  // The answer waits for what it shows alone: the view of auditors may be behind it still.
  const after = { 'x-api-key': ADMIN_KEY, 'x-read-after': space.headers.get('x-log-position') ?? '' };
  await until(
    async () => (await fetch(`${product.url}/api/v1/audit/events?limit=1`, { headers: after })).ok,
    'the view of auditors',
  );
  await product.stop();
  rmSync(dataDir, { recursive: true });

  const spans = received
    .flatMap((body) => (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const request = spans.find(({ name }) => name === 'POST /api/v1/core/spaces') as Span;
  const command = spans.find(
    ({ name, parentSpanId }) => name === 'command.transact' && parentSpanId === request.spanId,
  ) as Span;
  const append = spans.find(
    ({ name, parentSpanId }) => name === 'log.append' && parentSpanId === command.spanId,
  ) as Span;
  expect([command.traceId, append.traceId]).toEqual([request.traceId, request.traceId]);
  const views = spans
    .filter(({ name, traceId }) => name.startsWith('project ') && traceId === request.traceId)
    .map(({ name }) => name);
  expect(views).toEqual(expect.arrayContaining(['project spaces', 'project audit-trail']));
  for (const word of [CANARY, ADMIN_KEY]) expect(JSON.stringify(received)).not.toContain(word);
});

test.each(['that does not answer', 'that is away'])('a collector %s holds no stop up', async (what) => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const close = () => new Promise((resolve) => silent.close(resolve));
  if (what === 'that is away') await close();
  const { dataDir, product } = await startTraced(endpoint);
  await fetch(`${product.url}/api/v1/core/spaces`, { headers: { 'x-api-key': ADMIN_KEY } });
  const begun = performance.now();
  await product.stop();
  expect(performance.now() - begun).toBeLessThan(6_000);
  expect(product.output()).toContain('Sending the last traces took too long.');
  rmSync(dataDir, { recursive: true });
  silent.closeAllConnections();
  if (what !== 'that is away') await close();
});
