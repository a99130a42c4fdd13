import { startTestPlatform, type TestPlatform } from './harness';
import { sendBroken } from './several-appends';
import { REQUESTS as SEVERAL } from './several-appends-requests';
import { makeWorld, type World } from './world';

/** Every other request that writes: it appends once at most, so an error leaves nothing behind. Those that delete come last, and the inner things first. */
const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations';
const scope = { type: 'instance' };

const REQUESTS: readonly (readonly [route: string, body?: object])[] = [
  [`PUT ${CORE}/users/me`, { name: 'Somebody else' }],
  [
    `POST ${CORE}/api-keys`,
    { name: 'Another', agentIds: [], permissions: ['agents:read'], usageLimit: { amount: '1', window: 'day' } },
  ],
  [`PUT ${CORE}/api-keys/:keyId`, { name: 'Renamed', usageLimit: { amount: '1', window: 'day' } }],
  [`PUT ${CORE}/spaces/:spaceId/members/:userId`, { role: 'editor' }],
  [`POST ${CORE}/spaces/:spaceId/prompts`, { title: 'Another', text: 'Say goodbye.' }],
  [`PUT ${CORE}/spaces/:spaceId/prompts/:promptId`, { title: 'Renamed' }],
  [`PUT ${CORE}/agents/:agentId`, { name: 'Renamed', public: { enabled: true } }],
  [`PUT ${CORE}/agents/:agentId/prompt`, { systemPrompt: 'Be brief.' }],
  [`POST ${CORE}/agents/:agentId/versions/0/restore`],
  [`POST ${CORE}/knowledge/:agentId/tags`, { name: 'Another' }],
  [`PUT ${CORE}/knowledge/:agentId/tags/:tagId`, { name: 'Renamed' }],
  [
    `PUT ${CORE}/knowledge/:agentId/documents/:documentId`,
    { name: 'renamed.md', content: '# Anew', mimeType: 'text/markdown' },
  ],
  [`POST ${CORE}/knowledge/:agentId/documents/:documentId/reprocess`, { force: true }],
  [`POST ${CORE}/knowledge/:agentId/documents/:documentId/tags/:tagId`],
  [`DELETE ${CORE}/knowledge/:agentId/documents/:documentId/tags/:tagId`],
  [`POST ${CORE}/knowledge/:agentId/documents/download`, { documentIds: [':documentId'] }],
  [`POST ${CORE}/knowledge/:agentId/search`, { query: 'key' }],
  [`POST ${CORE}/knowledge/:agentId/summary-index`, { mode: 'rebuild' }],
  [`DELETE ${CORE}/knowledge/:agentId/summary-index`],
  [`POST ${CORE}/knowledge/:agentId/reindex`, { scope: 'space' }],
  ...['pause', 'resume', 'swap', 'rollback', 'cancel'].map((action): readonly [string, object] => [
    `POST ${CORE}/knowledge/:agentId/reindex/${action}`,
    { scope: 'space' },
  ]),
  [`PUT ${CORE}/llm/:agentId/conversation/:conversationId`, { title: 'Renamed', archived: true }],
  [`POST ${CORE}/llm/:agentId/conversation/:conversationId/stop`],
  [`POST ${CORE}/cost-control`, { scope, amount: '100', window: 'day', action: 'warn' }],
  [`PUT ${CORE}/cost-control/:limitId`, { amount: '101' }],
  [`PUT ${CORE}/cost-control`, { id: ':limitId', amount: '102' }],
  [`DELETE ${CORE}/cost-control/:limitId`],
  [`DELETE ${CORE}/cost-control`, { id: ':limitId' }],
  ...['rebuild', 'rebuild/pause', 'rebuild/resume', 'swap', 'rollback', 'rebuild/cancel', 'retire'].map(
    (action): readonly [string] => [`POST ${OPERATIONS}/projections/:name/${action}`],
  ),
  [`POST ${OPERATIONS}/dead-letters/:id/retry`],
  [`POST ${OPERATIONS}/dead-letters/:id/discard`],
  [`POST ${OPERATIONS}/blobs/sweep`],
  ...['', '/pause', '/resume', '/swap', '/rollback', '/cancel'].map((action): readonly [string] => [
    `POST ${OPERATIONS}/reindex${action}`,
  ]),
  [
    `POST ${OPERATIONS}/usage/what-if`,
    { from: '2026-11-01T00:00:00.000Z', limit: { scope, amount: '1', window: 'day' } },
  ],
  [`DELETE ${CORE}/llm/:agentId/conversation/:conversationId`],
  [`DELETE ${CORE}/knowledge/:agentId/tags/:tagId`],
  [`DELETE ${CORE}/knowledge/:agentId/documents/:documentId`],
  [`DELETE ${CORE}/spaces/:spaceId/prompts/:promptId`],
  [`DELETE ${CORE}/spaces/:spaceId/members/:userId`],
  [`DELETE ${CORE}/agents/:agentId`],
  [`DELETE ${CORE}/api-keys/:keyId`],
];

let platform: TestPlatform;
let world: World;
beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
}, 60_000);
afterAll(() => platform.stop());

it.each(REQUESTS.map(([route, body]) => ({ route, body })))('$route appends once at most', async ({ route, body }) => {
  const [method, url] = route.split(' ') as ['POST' | 'PUT' | 'DELETE', string];
  const needsLimit = [url, JSON.stringify(body ?? '')].some((text) => text.includes(':limitId'));
  const limitId = needsLimit
    ? (
        await platform.call<{ id: string }>(`${CORE}/cost-control`, {
          method: 'POST',
          body: { scope, amount: '50', window: 'day', action: 'warn' },
        })
      ).body.id
    : '';
  const path = world.path({ url: url.replace(':limitId', limitId) });
  const given =
    body === undefined
      ? {}
      : {
          body: JSON.parse(
            JSON.stringify(body)
              .replace(':limitId', limitId)
              .replace(':documentId', world.ids['documentId'] ?? ''),
          ) as object,
        };
  const { answer, appends } = await sendBroken(platform, (headers) =>
    platform.call(path, { method, headers, ...given }),
  );
  // Operations and jobs that there is nothing to do for are rejected behind their record, or before it.
  if (!url.startsWith(OPERATIONS) && !url.includes('/reindex/'))
    expect([answer.status >= 200 && answer.status < 300, answer.text]).toEqual([true, answer.text]);
  expect(answer.status).toBeLessThan(500);
  expect(appends).toBeLessThanOrEqual(1);
});

it('and there are no others', () => {
  const written = platform.platform.routes.routes.filter(
    ({ method, url }) => ['POST', 'PUT', 'DELETE'].includes(method) && !url.startsWith('/api/compat/'),
  );
  const known = new Set([
    ...SEVERAL.map(([route]) => route),
    ...REQUESTS.map(([route]) => route.replace('/versions/0/', '/versions/:revision/')),
  ]);
  expect(written.map(({ method, url }) => `${method} ${url}`).filter((route) => !known.has(route))).toEqual([]);
});
