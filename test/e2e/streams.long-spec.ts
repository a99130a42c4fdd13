import { makeLogger } from '@app/http';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { startTestPlatform, type TestPlatform } from './harness';

const lines: string[] = [];
let platform: TestPlatform;
let agentId: string;

beforeAll(async () => {
  platform = await startTestPlatform({
    listen: true,
    logger: makeLogger('debug', { write: (line) => void lines.push(line) }),
  });
  agentId = (
    await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Guide', knowledgeEnabled: true },
    })
  ).body.id;
});
afterAll(() => platform.stop());

const read = async (path: string, key: string) => {
  const following = await follow(`${platform.url}${path}`, key);
  expect(following.status).toBe(200);
  return following;
};

const rename = (name: string) => platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: { name } });

const change = (keyId: string, body: object) =>
  platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'PUT', body });

const newKey = async (permissions: readonly string[], agentIds: readonly string[]) => {
  const key = await platform.call<{ id: string; secret: string }>('/api/v1/core/api-keys', {
    method: 'POST',
    body: { name: 'reader', permissions, agentIds },
  });
  return key.body;
};

const errors = () =>
  lines.filter((line) => ['warn', 'error', 'fatal'].includes((JSON.parse(line) as { level: string }).level));

describe('an open stream', () => {
  it.each([
    [
      'the permission to see content, with nothing more shown',
      ['audit:read', 'audit:content'],
      '/api/v1/audit/events?follow=true&content=true',
      (id: string) => change(id, { permissions: ['audit:read'] }),
    ],
    [
      'the permission to see events',
      ['audit:read'],
      '/api/v1/audit/events?follow=true',
      (id: string) => change(id, { permissions: [] }),
    ],
    [
      'the grant of the Agent',
      ['knowledge:read'],
      `/api/v1/core/knowledge/:agentId/documents/events`,
      (id: string) => change(id, { agentIds: [] }),
    ],
    [
      'its key',
      ['knowledge:read'],
      `/api/v1/core/knowledge/:agentId/documents/events`,
      (id: string) => platform.call(`/api/v1/core/api-keys/${id}`, { method: 'DELETE' }),
    ],
  ])('ends within five seconds when its reader loses %s', async (_, permissions, path, take) => {
    const { id, secret } = await newKey(permissions, [agentId]);
    const { heard, ended } = await read(path.replace(':agentId', agentId), secret);
    await rename(`Before ${id}`);
    if (path.includes('audit')) await until(() => heard.join('').includes('AgentChanged'), 'the first event');
    lines.length = 0;
    const took = ownTime();
    expect((await take(id)).status).toBeLessThan(300);
    await ended;
    expect(took()).toBeLessThan(5_000);
    await rename('Zanthoquill');
    expect(heard.join('')).not.toContain('Zanthoquill');
    expect(errors()).toEqual([]);
  });
});

it.each([
  ['suspended', (userId: string) => platform.call(`/api/v1/core/users/${userId}/suspend`, { method: 'POST' })],
  ['deleted', (userId: string) => platform.call(`/api/v1/core/users/${userId}`, { method: 'DELETE' })],
])('every open stream of a user who is %s ends within five seconds', async (_, end) => {
  const { userId, key } = await platform.newCaller({ role: 'admin' });
  const own = (
    await platform.call<{ id: string }>('/api/v1/core/agents', { method: 'POST', key, body: { name: 'Guide' } })
  ).body.id;
  const streams = await Promise.all(
    ['/api/v1/audit/events?follow=true', `/api/v1/core/knowledge/${own}/documents/events`].map((path) =>
      read(path, key),
    ),
  );
  const took = ownTime();
  expect((await end(userId)).status).toBeLessThan(300);
  await Promise.all(streams.map(({ ended }) => ended));
  expect(took()).toBeLessThan(5_000);
});

test('a stream of documents ends for a user who is no member any more, and that is no error of ours', async () => {
  const { call } = platform;
  const { userId, key } = await platform.newCaller();
  const space = (await call<{ id: string }>('/api/v1/core/spaces', { method: 'POST', body: { name: 'Shared' } })).body
    .id;
  const shared = (
    await call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { spaceId: space, name: 'Shared', knowledgeEnabled: true },
    })
  ).body.id;
  await call(`/api/v1/core/spaces/${space}/members/${userId}`, { method: 'PUT', body: { role: 'viewer' } });
  const { heard, ended } = await read(`/api/v1/core/knowledge/${shared}/documents/events`, key);
  lines.length = 0;
  expect((await call(`/api/v1/core/spaces/${space}/members/${userId}`, { method: 'DELETE' })).status).toBe(204);
  await call(`/api/v1/core/knowledge/${shared}/documents`, {
    method: 'POST',
    body: { name: 'a.md', content: 'Zanthoquill', mimeType: 'text/markdown' },
  });
  await ended;
  expect(heard.join('')).not.toContain('event:');
  expect(errors()).toEqual([]);
});

test('a download that is read slowly ends for a reader who lost the Agent', async () => {
  const { id, secret } = await newKey(['knowledge:read'], [agentId]);
  const content = 'A line of a long text that goes on.\n'.repeat(800_000);
  const added = await platform.call<{ id: string }>(`/api/v1/core/knowledge/${agentId}/documents`, {
    method: 'POST',
    body: { name: 'long.txt', content, mimeType: 'text/plain' },
  });
  const response = await fetch(`${platform.url}/api/v1/core/knowledge/${agentId}/documents/${added.body.id}/file`, {
    headers: { 'x-api-key': secret },
  });
  expect([response.status, Number(response.headers.get('content-length'))]).toEqual([200, content.length]);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await platform.call(`/api/v1/core/api-keys/${id}`, { method: 'DELETE' });
  // Far slower than the file is long: the reader is shut out long before its end.
  const rest = async (): Promise<void> => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await expect(rest()).rejects.toThrow('terminated');
});
