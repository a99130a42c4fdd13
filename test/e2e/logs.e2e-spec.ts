import { makeLogger } from '@app/http';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { makeWorld } from './world';

/** Words that nothing but a leak can bring into a log. */
const CANARY = 'canarybird';
const lines: string[] = [];
let platform: TestPlatform;

beforeAll(async () => {
  platform = await startTestPlatform({ logger: makeLogger('trace', { write: (line) => void lines.push(line) }) });
});
afterAll(() => platform.stop());

test('logs at the finest level hold ids and codes, and none of what was sent', async () => {
  const { call } = platform;
  const { ids } = await makeWorld(platform);
  const space = `/api/v1/core/spaces/${ids['spaceId']}`;
  await call(space, { method: 'PATCH', body: { name: `Name ${CANARY}`, description: CANARY } });
  await call(`/api/v1/core/agents/${ids['agentId']}`, { method: 'PUT', body: { name: CANARY, systemPrompt: CANARY } });
  await call('/api/v1/core/users', {
    method: 'POST',
    body: { email: `${CANARY}@example.com`, name: CANARY, role: 'member' },
  });
  await call(`/api/v1/core/knowledge/${ids['agentId']}/documents`, {
    method: 'POST',
    body: { name: CANARY, content: `A ${CANARY} sings.`, mimeType: 'text/plain' },
  });
  await call(`/api/v1/core/knowledge/${ids['agentId']}/search`, { method: 'POST', body: { query: CANARY } });
  await call(`/api/v1/core/llm/${ids['agentId']}/conversation`, {
    method: 'POST',
    body: { message: `Where is the ${CANARY}?` },
  });
  const issued = await call<{ secret: string }>('/api/v1/core/api-keys', {
    method: 'POST',
    body: { name: CANARY, agentIds: [], permissions: [] },
  });
  await call(`${space}?q=${CANARY}`);
  await call(`/api/v1/core/${CANARY}/unknown`);
  await call(`/api/v1/core/agents/${CANARY}`, {
    headers: { 'x-request-id': `not safe ${CANARY}`, 'user-agent': CANARY },
  });
  await call('/api/v1/core/spaces', { method: 'POST', payload: `{"name":"${CANARY}",` });
  await call('/api/v1/core/spaces', { method: 'POST', body: { [CANARY]: CANARY } });
  await call('/api/v1/core/spaces', { key: CANARY });

  const log = lines.join('');
  expect(log).toContain('"route":"/api/v1/core/spaces"');
  expect(log).toContain('"route":"/api/v1/core/agents/:agentId"');
  expect(log.toLowerCase()).not.toContain(CANARY);
  expect(log).not.toContain(ADMIN_KEY);
  expect(log).not.toContain(issued.body.secret);
  for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow();
});

test('every line of a request carries its id', async () => {
  lines.length = 0;
  await platform.call('/api/v1/core/spaces', { headers: { 'x-request-id': 'trace-me' } });
  expect(lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId)).toContain('trace-me');
});
