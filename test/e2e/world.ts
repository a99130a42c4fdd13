import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ServedRoute } from '@app/http';
import { until } from '../fixtures/until';
import { ADMIN_KEY, type TestPlatform } from './harness';

/** One of everything that has an id, made over the API by the admin. */
export interface World {
  readonly ids: Readonly<Record<string, string>>;
  /** A route's path with ids that exist; those that do not are named by `unknown`. */
  path(route: Pick<ServedRoute, 'url'>): string;
}

type Request = readonly [route: string, body?: object];

/** A resource of a Space or an Agent, in a file of its own in `resources`: how the admin makes one, and the requests that append once at most. */
export interface Resource {
  /** The path parameter that is its id, such as `promptId`. */
  readonly parameter: string;
  /** Makes one over the API, and answers its id. */
  readonly make: (
    post: (path: string, body: object) => Promise<string>,
    world: { readonly spaceId: string; readonly agentId: string },
  ) => Promise<string>;
  readonly singleAppends: readonly Request[];
}

const resources = readdirSync(join(__dirname, 'resources'))
  .toSorted()
  .map((file) => (require(join(__dirname, 'resources', file)) as { readonly resource: Resource }).resource);
/** The requests of the resources, those that delete one apart. */
const appendsOfResources = (deleting: boolean): readonly Request[] =>
  resources.flatMap(({ singleAppends }) => singleAppends.filter(([route]) => route.startsWith('DELETE') === deleting));

export const UNKNOWN_ID = '01900000-0000-7000-8000-00000000dead';

/** An answer's text as if the ids that were asked for had been those of nothing: what it repeats of the question says nothing. */
export const asUnknown = (text: string, ...ids: readonly string[]): string =>
  ids.reduce((said, id) => said.replaceAll(id, UNKNOWN_ID), text);

/** Fills a route's path: parameters that `ids` does not have get an id that nothing has. */
export const pathWith = (url: string, ids: Readonly<Record<string, string>>): string =>
  url.replace('*', ':path').replace(/:(\w+)/g, (_, name: string) => ids[name] ?? UNKNOWN_ID);

let worlds = 0;

export const makeWorld = async ({ call }: TestPlatform): Promise<World> => {
  worlds += 1;
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body });
    if (answer.status !== 201 && answer.status !== 202) throw new Error(`${path}: ${answer.text}`);
    return answer.body.id;
  };
  const spaceId = await post('/spaces', { name: `World ${worlds}`, slug: `world-${worlds}` });
  const agentId = await post('/agents', { spaceId, name: 'Guide', sharedMemoryEnabled: true });
  const made: Record<string, string> = {};
  for (const { parameter, make } of resources) made[parameter] = await make(post, { spaceId, agentId });
  const userId = await post('/users', { email: `world${worlds}@example.com`, name: 'Member', role: 'member' });
  const keyId = await post('/api-keys', { name: 'Key', agentIds: [], permissions: ['agents:read'] });
  await call(`/api/v1/core/spaces/${spaceId}/members/${userId}`, { method: 'PUT', body: { role: 'viewer' } });
  const tagId = await post(`/knowledge/${agentId}/tags`, { name: 'Manuals' });
  const documentId = await post(`/knowledge/${agentId}/documents`, {
    name: 'guide.md',
    content: '# Guide\n\nTurn the key to the right.',
    mimeType: 'text/markdown',
  });
  const chunks = `/api/v1/core/knowledge/${agentId}/documents/${documentId}/chunks`;
  let chunkId: string | undefined;
  await until(async () => {
    const { items } = (await call<{ items: { id: string }[] }>(chunks)).body;
    return (chunkId = items[0]?.id) !== undefined;
  }, 'the chunks');
  const turn = await call<{ conversationId: string; message: { id: string } }>(
    `/api/v1/core/llm/${agentId}/conversation`,
    { method: 'POST', body: { message: 'How do I start it?' } },
  );
  if (turn.status !== 200) throw new Error(`no conversation: ${turn.text}`);
  const { conversationId, message } = turn.body;
  const fileId = (
    await call<{ id: string }>(`/api/v1/core/llm/${agentId}/files`, {
      method: 'POST',
      payload: `--w\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\n# A guide\r\n--w--\r\n`,
      headers: { 'content-type': 'multipart/form-data; boundary=w' },
    })
  ).body.id;
  const skillId = await post('/skills', {
    scope: 'space',
    spaceId,
    name: `Skill ${worlds}`,
    description: 'Starts the machine.',
    instructions: 'Turn the key.',
    publish: true,
  });
  const skill = await call<{ activeVersionId: string }>(`/api/v1/core/skills/${skillId}`);
  const marketId = await post('/spaces', { name: `Market ${worlds}` });
  const listedId = await post('/skills', {
    scope: 'space',
    spaceId: marketId,
    name: `Listed ${worlds}`,
    description: 'Stops the machine.',
    instructions: 'Turn the key back.',
    publish: true,
  });
  const entryId = await post('/marketplace/skills', { skillId: listedId });
  const installationId = await post(`/marketplace/skills/${entryId}/installations`, { scope: 'space', spaceId });
  const memoryId = await post(`/memory/${agentId}/memories`, {
    text: 'Invoices go to Ada.',
    kind: 'shared',
  });
  const ids = {
    versionId: skill.body.activeVersionId,
    skillId,
    entryId,
    installationId,
    fileId,
    memoryId,
    tagId,
    documentId,
    ...(chunkId && { chunkId }),
    conversationId,
    messageId: message.id,
    spaceId,
    ...made,
    agentId,
    userId,
    keyId,
    apiKeyId: keyId,
    name: 'agents',
  };
  return { ids, path: ({ url }) => pathWith(url, ids) };
};

const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations';
const SESSION = '/api/v1/session';
const scope = { type: 'instance' };

/** Requests of the world that append once at most, so an error leaves nothing behind. Those that delete come last, and the inner ones first. */
export const SINGLE_APPENDS: readonly Request[] = [
  [`PUT ${CORE}/users/me`, { name: 'Somebody else' }],
  [
    `POST ${CORE}/api-keys`,
    { name: 'Another', agentIds: [], permissions: ['agents:read'], usageLimit: { amount: '1', window: 'day' } },
  ],
  [`PUT ${CORE}/api-keys/:keyId`, { name: 'Renamed', usageLimit: { amount: '1', window: 'day' } }],
  [`PUT ${CORE}/spaces/:spaceId/members/:userId`, { role: 'editor' }],
  ...appendsOfResources(false),
  [`PUT ${CORE}/agents/:agentId`, { name: 'Renamed', public: { enabled: true } }],
  [`PUT ${CORE}/agents/:agentId/prompt`, { systemPrompt: 'Be brief.' }],
  [`POST ${CORE}/agents/:agentId/versions/0/restore`],
  [`PUT ${CORE}/skills/:skillId`, { description: 'Stops the machine.' }],
  [`POST ${CORE}/skills/:skillId/publish`],
  [`PUT ${CORE}/skills/:skillId/draft`],
  [`PUT ${CORE}/skills/:skillId/draft/files/*`],
  [`DELETE ${CORE}/skills/:skillId/draft/files/*`],
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
  ...appendsOfResources(true),
  [`DELETE ${CORE}/spaces/:spaceId/members/:userId`],
  [`DELETE ${CORE}/agents/:agentId`],
  [`DELETE ${CORE}/api-keys/:keyId`],
];
