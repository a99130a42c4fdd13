import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

let platform: TestPlatform;
beforeAll(
  async () => (platform = await startTestPlatform({ environment: { METRICS_TOKEN: 'metrics-token-0123456789' } })),
);
afterAll(() => platform.stop());

describe('health, metrics and documentation', () => {
  it('says in public only whether it is up', async () => {
    expect((await platform.call('/health/live', { key: null })).body).toEqual({ status: 'up' });
    expect((await platform.call('/health/ready', { key: null })).body).toEqual({ status: 'up' });
    expect((await platform.call('/health', { key: null })).status).toBe(401);
    expect((await platform.call('/metrics', { key: null })).status).toBe(401);
  });

  it.each(['/health', '/metrics'])('tells operators and monitors more at %s', async (path) => {
    expect((await platform.call(path)).status).toBe(200);
    expect(
      (await platform.call(path, { key: null, headers: { authorization: 'Bearer metrics-token-0123456789' } })).status,
    ).toBe(200);
    expect(
      (await platform.call(path, { key: null, headers: { authorization: 'Bearer wrong-token-0123456789' } })).status,
    ).toBe(401);
  });

  it('names every dependency and every projection', async () => {
    let told: Readonly<Record<string, { readonly ok: boolean }>> = {};
    // A store may be slow to answer for a moment.
    await until(async () => {
      told = (await platform.call<{ dependencies: typeof told }>('/health')).body.dependencies;
      return Object.values(told).every(({ ok }) => ok);
    }, 'the answers of all');
    expect(told).toEqual({
      log: { ok: true },
      readStore: { ok: true },
      searchIndex: { ok: true },
      vault: { ok: true },
      clock: { ok: true },
      blobs: { ok: true },
    });
  });

  it('measures appends, lag and requests', async () => {
    const { text } = await platform.call('/metrics');
    for (const name of [
      'log_append_duration_seconds_count',
      'projection_lag_events',
      'queue_depth{queue="ingestion"}',
      'policy_dead_letters',
      'http_request_duration_seconds_bucket',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(text).toContain(name);
  });

  it('serves its documentation without any other host', async () => {
    const page = await platform.call('/docs', { key: null });
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    expect(page.text.replaceAll(/xmlns(:\w+)?="[^"]+"/g, '')).not.toMatch(/https?:\/\//);
    for (const address of ['/docs', '/docs/']) {
      const { status, text } = await platform.call(address, { key: null });
      const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
      expect([status, files.length]).toEqual([200, 6]);
      for (const file of files) {
        const { pathname } = new URL(file, `http://product${address}`);
        expect([pathname, (await platform.call(pathname, { key: null })).status]).toEqual([pathname, 200]);
      }
    }
    expect((await platform.call<{ openapi: string }>('/openapi.json', { key: null })).body.openapi).toBe('3.1.0');
    for (const path of ['/docs/package.json', '/docs/nothing.js'])
      expect((await platform.call(path, { key: null })).body).toMatchObject({ status: 404, code: 'not_found' });
  });
});

it('shows its documentation to callers only where PUBLIC_DOCS is false', async () => {
  const closed = await startTestPlatform({ environment: { PUBLIC_DOCS: 'false' } });
  expect([
    (await closed.call('/docs', { key: null })).status,
    (await closed.call('/openapi.json', { key: null })).status,
    (await closed.call('/openapi.json')).status,
  ]).toEqual([401, 401, 200]);
  await closed.stop();
});

describe('open streams', () => {
  let listening: TestPlatform;
  beforeAll(async () => (listening = await startTestPlatform({ listen: true })));
  afterAll(() => listening.stop());

  it.each([
    [
      'the log',
      () => Promise.resolve('/api/v1/audit/events?follow=true'),
      { role: 'auditor', permissions: ['audit:read'] },
    ],
    [
      'documents',
      async (key: string) => `/api/v1/core/knowledge/${await agentOf(key)}/documents/events`,
      { permissions: ['agents:read', 'agents:write', 'knowledge:read'] },
    ],
  ] as const)('of %s break off within 5 s of the revocation of their key', async (_name, path, caller) => {
    const { key, keyId } = await listening.newCaller({ ...caller, permissions: [...caller.permissions] });
    const stream = await fetch(`${listening.url}${await path(key)}`, { headers: { 'x-api-key': key } });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
    ]);
    const ended = stream.text().catch(() => 'broken off');
    const took = ownTime();
    expect((await listening.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' })).status).toBe(204);
    await ended;
    expect(took()).toBeLessThan(5_000);
  });

  const agentOf = async (key: string): Promise<string> =>
    (await listening.call<{ id: string }>('/api/v1/core/agents', { method: 'POST', key, body: { name: 'Guide' } })).body
      .id;
});
