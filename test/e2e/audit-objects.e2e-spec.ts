import { aggregates } from '@app/hosting';
import { until } from '../fixtures/until';
import { agentId, auditor, create, object, type Page, platform, spaceId, withAudited } from './audited-world';

withAudited();

interface HistoryItem {
  readonly position: string;
  readonly at: string;
  readonly type: string;
  readonly actor: string;
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

const history = async (path: string, key?: string) =>
  platform.call<Page<HistoryItem>>(`/api/v1/audit/objects/${path}/history`, key === undefined ? {} : { key });

describe('one object', () => {
  it('is shown as its API would have shown it at a position or a time', async () => {
    const now = (await platform.call(`/api/v1/core/agents/${agentId}`)).body;
    expect((await object(`agent/${agentId}`)).body).toMatchObject({
      name: now['name'],
      description: 'a secret plan',
      sampling: now['sampling'],
      revision: now['revision'],
    });
    const created = (await history(`agent/${agentId}`)).body.items.at(-1) as HistoryItem;
    expect((await object(`agent/${agentId}?at=${created.position}`)).body).toMatchObject({ name: 'Before' });
    expect((await object(`agent/${agentId}?at=${created.at}`)).body).toMatchObject({ id: agentId });
    expect((await object(`agent/${agentId}?at=2020-01-01T00:00:00Z`)).status).toBe(404);
    for (const at of ['nowhere', '12'])
      expect(await object(`agent/${agentId}?at=${at}`)).toMatchObject({
        status: 400,
        body: { detail: 'at must be a position from an answer, or a time in ISO 8601.' },
      });
  });

  it('hides its content from who may not see it', async () => {
    const { body } = await object(`agent/${agentId}`, auditor);
    expect(body).toMatchObject({ id: agentId, description: { encrypted: true } });
    expect((await history(`agent/${agentId}`, auditor)).text).not.toContain('secret plan');
  });

  it('has a history of what changed, by whom and when', async () => {
    const { body } = await history(`agent/${agentId}`);
    expect(body.items.at(-1)).toMatchObject({ type: 'AgentCreated', actor: expect.stringMatching(/^key:/) as unknown });
    expect(body.items.at(-2)?.changes).toEqual(
      expect.arrayContaining([{ path: 'name', before: 'Before', after: 'After' }]),
    );
  });

  it('keeps its history when it is deleted; its content reads as erased', async () => {
    const id = (await create('/api/v1/core/agents', { spaceId, name: 'Short-lived', description: 'soon gone' })).id;
    const created = (await history(`agent/${id}`)).body.items[0] as HistoryItem;
    await platform.call(`/api/v1/core/agents/${id}`, { method: 'DELETE' });
    expect((await object(`agent/${id}`)).status).toBe(404);
    await until(async () => !(await history(`agent/${id}`)).text.includes('soon gone'), 'the erasure');
    expect((await history(`agent/${id}`)).body.items.map(({ type }) => type)).toEqual(['AgentDeleted', 'AgentCreated']);
    expect((await object(`agent/${id}?at=${created.position}`)).body).toMatchObject({
      id,
      description: { erased: true },
    });
  });

  it('is of a kind that is named where another is asked for', async () => {
    const { detail } = (await object('nothing/1')).body as { readonly detail?: string };
    for (const kind of Object.keys(aggregates.kinds)) expect(detail).toMatch(new RegExp(`\\b${kind}\\b`));
  });

  it.each(['agent/00000000-0000-7000-8000-000000000000', 'nothing/1', 'constructor/1'])(
    '%s is not found',
    async (path) => {
      expect([(await object(path)).status, (await history(path)).status]).toEqual([404, 404]);
    },
  );
});

describe('every kind of object', () => {
  const at = (path: string) => `/api/v1/core${path}`;
  const shown: Record<string, { id: string; path: string; without?: readonly string[] }> = {};

  beforeAll(async () => {
    const tag = await create(at(`/knowledge/${agentId}/tags`), { name: 'Travel' });
    const document = await create(at(`/knowledge/${agentId}/documents`), {
      name: 'ferries.md',
      content: '# Ferries\n\nThe ferry leaves at nine.',
      mimeType: 'text/markdown',
      tagIds: [tag.id],
    });
    await until(
      async () =>
        (await platform.call(at(`/knowledge/${agentId}/documents/${document.id}`))).body['status'] === 'Ready',
      'the document',
    );
    const turn = await platform.call<{ conversationId: string; message: { id: string } }>(
      at(`/llm/${agentId}/conversation`),
      { method: 'POST', body: { message: 'When does the ferry leave?' } },
    );
    const conversation = at(`/llm/${agentId}/conversation/${turn.body.conversationId}`);
    const caller = await platform.newCaller();
    Object.assign(shown, {
      user: { id: caller.userId, path: at(`/users/${caller.userId}`) },
      apiKey: { id: caller.keyId, path: at(`/api-keys/${caller.keyId}`) },
      space: { id: spaceId, path: at(`/spaces/${spaceId}`), without: ['role'] },
      agent: { id: agentId, path: at(`/agents/${agentId}`) },
      document: { id: document.id, path: at(`/knowledge/${agentId}/documents/${document.id}`) },
      tag: { id: tag.id, path: at(`/knowledge/${agentId}/tags/${tag.id}`) },
      conversation: { id: turn.body.conversationId, path: conversation },
      message: { id: turn.body.message.id, path: `${conversation}/messages` },
    });
  });

  it.each(['user', 'apiKey', 'space', 'agent', 'document', 'tag', 'conversation', 'message'])(
    '%s is shown as its API shows it',
    async (kind) => {
      const { id, path, without = [] } = shown[kind] ?? { id: '', path: '' };
      const { status, body } = await platform.call<{ items?: Record<string, unknown>[] } & Record<string, unknown>>(
        path,
      );
      const now = body.items === undefined ? body : (body.items.find((item) => item['id'] === id) ?? {});
      const withoutThese = (given: Readonly<Record<string, unknown>>) =>
        Object.fromEntries(Object.entries(given).filter(([name]) => !without.includes(name)));
      expect(status).toBe(200);
      expect(withoutThese((await object(`${kind}/${id}`)).body)).toEqual(withoutThese(now));
      expect((await history(`${kind}/${id}`)).body.items.length).toBeGreaterThan(0);
    },
  );
});

describe('what is deleted', () => {
  const CORE = '/api/v1/core';
  const text = { description: 'Use it.', instructions: 'Do it.', publish: true };
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await platform.call<{ id: string }>(CORE + path, { method: 'POST', body });
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    return answer.body.id;
  };
  const skill = (name: string, of: string) => made('/skills', { scope: 'agent', agentId: of, name, ...text });
  const answered = async () => {
    const { body } = await platform.call<{ conversationId: string; message: { id: string } }>(
      `${CORE}/llm/${agentId}/conversation`,
      { method: 'POST', body: { message: 'When does the ferry leave?' } },
    );
    return { ...body, path: `/llm/${agentId}/conversation/${body.conversationId}` };
  };
  const member = async () => (await platform.newCaller()).userId;
  /** Makes one of a kind, and names where it is deleted. */
  const kinds: Readonly<Record<string, () => Promise<readonly [id: string, path: string]>>> = {
    agent: async () => {
      const id = await made('/agents', { spaceId, name: 'Gone' });
      return [id, `/agents/${id}`];
    },
    space: async () => {
      const id = await made('/spaces', { name: 'Gone' });
      return [id, `/spaces/${id}`];
    },
    document: async () => {
      const path = `/knowledge/${agentId}/documents`;
      const id = await made(path, { name: 'a.md', content: 'a', mimeType: 'text/markdown' });
      return [id, `${path}/${id}`];
    },
    tag: async () => {
      const id = await made(`/knowledge/${agentId}/tags`, { name: 'Gone' });
      return [id, `/knowledge/${agentId}/tags/${id}`];
    },
    memory: async () => {
      const id = await made(`/memory/${agentId}/memories`, { text: 'I like tea' });
      return [id, `/memory/${agentId}/memories/${id}`];
    },
    skill: async () => {
      const id = await skill('Gone', agentId);
      return [id, `/skills/${id}`];
    },
    skillInstallation: async () => {
      const entryId = await made('/marketplace/skills', {
        skillId: await skill('Listed', await made('/agents', { spaceId, name: 'Other' })),
      });
      const path = `/marketplace/skills/${entryId}/installations`;
      const id = await made(path, { scope: 'agent', agentId });
      return [id, `${path}/${id}`];
    },
    conversation: async () => {
      const { conversationId, path } = await answered();
      return [conversationId, path];
    },
    message: async () => {
      const { message, path } = await answered();
      return [message.id, `${path}/messages/${message.id}`];
    },
    limit: async () => {
      const scope = { type: 'agent', id: agentId };
      const id = await made('/cost-control', { scope, amount: '100', window: 'total' });
      return [id, `/cost-control/${id}`];
    },
    user: async () => {
      const id = await member();
      return [id, `/users/${id}`];
    },
  };

  it.each(Object.keys(kinds))('%s: 404 says when, and the position at which it is shown as it was', async (kind) => {
    const [id, path] = await (kinds[kind] as (typeof kinds)[string])();
    expect((await object(`${kind}/${id}`)).status).toBe(200);
    expect([202, 204]).toContain((await platform.call(CORE + path, { method: 'DELETE' })).status);
    const { status, body } = await object(`${kind}/${id}`, auditor);
    expect([status, body]).toMatchObject([404, { code: 'not_found' }]);
    const [last] = (await history(`${kind}/${id}`)).body.items;
    const [, type, at, before] =
      /was deleted \((\w+), ([^)]+)\)\. Ask for it as it was with at=(\S+), or read its history\./.exec(
        String(body['detail']),
      ) ?? [];
    expect([type, at]).toEqual([last?.type, last?.at]);
    expect((await object(`${kind}/${id}?at=${before}`, auditor)).body).toMatchObject({ id });
    expect((await object(`${kind}/${id}?at=${last?.position}`)).status).toBe(404);
  });
});

it('a document shows its tags as they were called then', async () => {
  const tag = await create(`/api/v1/core/knowledge/${agentId}/tags`, { name: 'Draft', color: '#ff0000' });
  const { id } = await create(`/api/v1/core/knowledge/${agentId}/documents`, {
    name: 'b',
    content: 'b',
    mimeType: 'text/plain',
    tagIds: [tag.id],
  });
  const created = (await history(`document/${id}`)).body.items.at(-1) as HistoryItem;
  await platform.call(`/api/v1/core/knowledge/${agentId}/tags/${tag.id}`, { method: 'PUT', body: { name: 'Final' } });
  const named = (name: unknown) => ({ tags: [{ id: tag.id, name, color: '#ff0000' }] });
  expect((await object(`document/${id}?at=${created.position}`)).body).toMatchObject(named('Draft'));
  expect((await object(`document/${id}`)).body).toMatchObject(named('Final'));
  expect((await object(`document/${id}`, auditor)).body).toMatchObject(named({ encrypted: true }));
  const renamed = (await history(`document/${id}`)).body.items.find(({ type }) => type === 'TagUpdated');
  expect(renamed?.changes).toEqual([{ path: 'tags[0].name', before: 'Draft', after: 'Final' }]);
  await platform.call(`/api/v1/core/knowledge/${agentId}/tags/${tag.id}`, { method: 'DELETE' });
  expect((await object(`document/${id}`)).body).toMatchObject({ tags: [] });
});
