import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { sendBroken } from './several-appends';
import { REQUESTS as SEVERAL } from './several-appends-requests';
import { makeWorld, type World } from './world';

/** Every other request that writes: it appends once at most, so an error leaves nothing behind. Those that delete come last, and the inner things first. */
const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations';
const SESSION = '/api/v1/session';
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
  [`PUT ${CORE}/skills/:skillId`, { description: 'Stops the machine.' }],
  [`POST ${CORE}/skills/:skillId/publish`],
  [`PUT ${CORE}/skills/:skillId/draft`],
  [`PUT ${CORE}/skills/:skillId/draft/files/:filePath`],
  [`DELETE ${CORE}/skills/:skillId/draft/files/:filePath`],
  [`DELETE ${CORE}/skills/:skillId/draft`],
  [`POST ${CORE}/skills/:skillId/activate`, { versionId: ':versionId' }],
  [`POST ${CORE}/marketplace/skills`, { skillId: ':skillId' }],
  [`DELETE ${CORE}/marketplace/skills/:entryId`],
  [`POST ${CORE}/marketplace/skills/:entryId/restore`],
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
  [`POST ${CORE}/llm/:agentId/generateText`, { prompt: 'How do I start it?' }],
  [`POST ${CORE}/llm/:agentId/generateObject`, { prompt: 'How do I start it?', schema: {} }],
  [`POST ${CORE}/llm/:agentId/generateImage`, { prompt: 'A key' }],
  [`POST ${CORE}/llm/:agentId/generateSpeech`, { text: 'Hello.', voiceName: 'alloy' }],
  [`POST ${CORE}/llm/:agentId/transcribe`, { audioBase64: 'AAAA', mimeType: 'audio/wav' }],
  [`PUT ${CORE}/llm/:agentId/conversation/:conversationId`, { title: 'Renamed', archived: true }],
  [`POST ${CORE}/llm/:agentId/conversation/:conversationId/stop`],
  [`POST ${CORE}/llm/:agentId/conversation/:conversationId/compact`],
  [`POST ${CORE}/llm/:agentId/conversation/:conversationId/messages/:messageId/tools/:callId`, { approved: true }],
  [`POST ${CORE}/memory/:agentId/memories/:memoryId/discard`],
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
  [`POST ${SESSION}`, { apiKey: ADMIN_KEY }],
  [`DELETE ${SESSION}`],
  [`POST ${CORE}/llm/:agentId/conversation/:conversationId/messages/:messageId/feedback`, { rating: 'up' }],
  [`DELETE ${CORE}/llm/:agentId/conversation/:conversationId/messages/:messageId`],
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

const UPLOAD: { payload?: string; headers?: Readonly<Record<string, string>> } = {
  payload:
    '--w\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\n---\nname: A\ndescription: B.\n---\nC.\r\n--w--\r\n',
  headers: { 'content-type': 'multipart/form-data; boundary=w' },
};
/** Uploads take no Idempotency-Key. */
const withoutKey = (headers: Readonly<Record<string, string>>, file: typeof UPLOAD) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => file.payload === undefined || !/idempotency/i.test(name)),
  );

/** A session is ended by its own cookie. */
const signedIn = async (): Promise<{ headers?: { cookie: string } }> => {
  const { headers } = await platform.call(SESSION, { method: 'POST', body: { apiKey: ADMIN_KEY } });
  return { headers: { cookie: String(headers['set-cookie']).split(';')[0] as string } };
};

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
              .replace(':versionId', world.ids['versionId'] ?? '')
              .replace(':skillId', world.ids['skillId'] ?? '')
              .replace(':documentId', world.ids['documentId'] ?? ''),
          ) as object,
        };
  const caller = url === SESSION && method === 'DELETE' ? await signedIn() : {};
  const file = /\/draft(?:\/files\/|$)/.test(url) && method === 'PUT' ? UPLOAD : {};
  const { answer, appends } = await sendBroken(platform, (headers) =>
    platform.call(path, {
      method,
      ...given,
      ...file,
      headers: { ...withoutKey(headers, file), ...caller.headers, ...file.headers },
      ...(caller.headers && { key: null }),
    }),
  );
  // Operations and jobs that there is nothing to do for are rejected behind their record, or before it.
  // The local models generate text alone, and call no tools.
  if (!url.startsWith(OPERATIONS) && !/\/reindex\/|\/generate(?!Text)|\/transcribe$|\/tools\//.test(url))
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
