import type { ServedRoute } from '@app/http';
import { until } from '../fixtures/until';
import type { TestPlatform } from './harness';

/** One of everything that has an id, made over the API by the admin. */
export interface World {
  readonly ids: Readonly<Record<string, string>>;
  /** A route's path with ids that exist; those that do not are named by `unknown`. */
  path(route: Pick<ServedRoute, 'url'>): string;
}

export const UNKNOWN_ID = '01900000-0000-7000-8000-00000000dead';

/** An answer's text as if the ids that were asked for had been those of nothing: what it repeats of the question says nothing. */
export const asUnknown = (text: string, ...ids: readonly string[]): string =>
  ids.reduce((said, id) => said.replaceAll(id, UNKNOWN_ID), text);

/** Fills a route's path: parameters that `ids` does not have get an id that nothing has. */
export const pathWith = (url: string, ids: Readonly<Record<string, string>>): string =>
  url.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? UNKNOWN_ID);

let worlds = 0;

export const makeWorld = async ({ call }: TestPlatform): Promise<World> => {
  worlds += 1;
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body });
    if (answer.status !== 201 && answer.status !== 202) throw new Error(`${path}: ${answer.text}`);
    return answer.body.id;
  };
  const spaceId = await post('/spaces', { name: `World ${worlds}`, slug: `world-${worlds}` });
  const promptId = await post(`/spaces/${spaceId}/prompts`, { title: 'Greeting', text: 'Say hello.' });
  const agentId = await post('/agents', { spaceId, name: 'Guide', sharedMemoryEnabled: true });
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
    promptId,
    agentId,
    userId,
    keyId,
    apiKeyId: keyId,
    name: 'agents',
  };
  return { ids, path: ({ url }) => pathWith(url, ids) };
};
