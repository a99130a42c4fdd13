import type { Permission } from '@app/access';
import type { StoredTool } from '@app/agents';
import type { HttpCall } from '@app/tools';
import { ToolsOfAgents, type ToolsParts } from './agent-tools';

const document = JSON.stringify({
  openapi: '3.1.0',
  paths: { '/a': { get: { operationId: 'readA', summary: 'Reads it.' } }, '/b': { post: {} } },
});
const http = { document, baseUrl: 'https://api.example.com', secret: 'sealed' };
const stored = (given: Partial<StoredTool> = {}): StoredTool => ({
  id: 'api',
  name: 'Api',
  kind: 'http',
  enabled: true,
  approval: 'always',
  http,
  ...given,
});
const docs = stored({ id: 'docs', kind: 'knowledge', approval: 'always', http: undefined });
const requester = { userId: 'u' };
const agent = { agentId: 'a', spaceId: 's', knowledgeEnabled: true };

const opened = (tools: StoredTool[]) => {
  const state = {
    tools,
    knowledgeEnabled: true,
    users: ['u'],
    key: { permissions: ['llm'] as Permission[], agentIds: ['a'], allAgents: false },
    calls: [] as HttpCall[],
    warnings: [] as unknown[],
  };
  const parts: ToolsParts = {
    access: {
      agentOf: async (userId: string) =>
        state.users.includes(userId)
          ? { agent: { version: { config: { tools: state.tools, knowledgeEnabled: state.knowledgeEnabled } } } }
          : undefined,
    },
    authenticator: {
      holder: async (keyId) => {
        const { permissions, agentIds, allAgents } = state.key;
        if (keyId !== 'k') return undefined;
        const held = { permissions: new Set(permissions), agentIds: new Set(agentIds), allAgents };
        return { actor: 'key:k', userId: 'u', role: 'member', keyId, ...held };
      },
    },
    secrets: { opened: async (agentId, toolId, sealed) => `${agentId}/${toolId}/${sealed} is open` },
    retriever: { retrieve: async () => ({ passages: [], degraded: [] }) },
    http: {
      call: async (call) => {
        state.calls.push(call);
        return { output: '{}', isError: true, reason: 'timeout' };
      },
    },
    logger: { warn: (facts) => void state.warnings.push(facts) },
  };
  return { state, agentTools: new ToolsOfAgents(parts) };
};
const context = { signal: new AbortController().signal, callId: 'c' };

describe('the tools of an Agent', () => {
  it('are the search in Knowledge and each operation of its enabled HTTP tools', async () => {
    const { agentTools } = opened([stored(), stored({ id: 'off', enabled: false })]);
    expect(
      (await agentTools.of(agent, requester)).map(({ name, description, approval }) => [name, description, approval]),
    ).toEqual([
      ['search_knowledge', expect.any(String), 'never'],
      ['api_readA', 'Api: Reads it.', 'always'],
      ['api_post_b', 'Api: POST /b', 'always'],
    ]);
  });

  it('search in Knowledge only where it is enabled, and as its own entry says', async () => {
    const names = async (tools: StoredTool[], knowledgeEnabled = true) =>
      (await opened(tools).agentTools.of({ ...agent, knowledgeEnabled }, requester)).map(({ name, approval }) => [
        name,
        approval,
      ]);
    expect(await names([], false)).toEqual([]);
    expect(await names([docs])).toEqual([['search_knowledge', 'always']]);
    expect(await names([{ ...docs, enabled: false }])).toEqual([]);
    expect(await names([docs], false)).toEqual([]);
  });

  it('are none for somebody who may not use the Agent', async () => {
    const { agentTools } = opened([stored()]);
    expect(await agentTools.of(agent, { userId: 'stranger' })).toEqual([]);
  });

  it('carry the secret of their own tool, and tell the log why they fail, without content', async () => {
    const { agentTools, state } = opened([stored()]);
    const [, readA] = await agentTools.of(agent, requester);
    expect(await readA?.run({ x: 'content' }, context)).toEqual({ output: '{}', isError: true });
    expect(state.calls).toEqual([
      {
        agentId: 'a',
        baseUrl: http.baseUrl,
        secret: 'a/api/sealed is open',
        input: { x: 'content' },
        signal: context.signal,
        operation: expect.objectContaining({ name: 'readA' }),
      },
    ]);
    expect(state.warnings).toEqual([{ agentId: 'a', toolId: 'api', code: 'timeout' }]);
  });

  it('are looked up again when they are called: rights, tool and secret may have changed', async () => {
    const { agentTools, state } = opened([stored()]);
    const [search, readA] = await agentTools.of(agent, requester);
    const withoutSecret = { document, baseUrl: http.baseUrl };
    state.tools = [stored({ http: withoutSecret })];
    await readA?.run({}, context);
    expect(state.calls.map(({ secret }) => secret)).toEqual([undefined]);
    for (const change of [
      () => (state.tools = [stored({ enabled: false })]),
      () => (state.tools = [stored({ http: { ...http, document: document.replace('readA', 'other') } })]),
      () => (state.tools = []),
      () => {
        state.tools = [stored()];
        state.users = [];
      },
    ]) {
      change();
      expect(await readA?.run({}, context)).toMatchObject({
        isError: true,
        output: expect.stringContaining('changed'),
      });
    }
    expect(state.calls).toHaveLength(1);
    expect(await search?.run({ query: 'a' }, context)).toMatchObject({ isError: true });
  });

  it('are not called once they, or Knowledge, are switched off or need approval', async () => {
    const free = [stored({ approval: 'never' }), { ...docs, approval: 'never' as const }];
    const { agentTools, state } = opened(free);
    const [search, readA] = await agentTools.of(agent, requester);
    expect(await search?.run({ query: 'a' }, context)).toMatchObject({ passages: [] });
    await readA?.run({}, context);
    expect(state.calls).toHaveLength(1);
    const gone = { isError: true, output: expect.stringContaining('changed') as string };
    state.tools = free.map((tool) => ({ ...tool, approval: 'always' }));
    expect(await search?.run({ query: 'a' }, context)).toMatchObject(gone);
    expect(await readA?.run({}, context)).toMatchObject(gone);
    state.tools = free.map((tool) => ({ ...tool, enabled: false }));
    expect(await search?.run({ query: 'a' }, context)).toMatchObject(gone);
    Object.assign(state, { tools: free, knowledgeEnabled: false });
    expect(await search?.run({ query: 'a' }, context)).toMatchObject(gone);
    expect(state.calls).toHaveLength(1);
  });
});

describe('an Agent', () => {
  const withKey = { userId: 'u', keyId: 'k' };
  const answering = { ...agent, model: null, systemPrompt: '', sampling: {} };

  it.each<[string, boolean, Partial<ReturnType<typeof opened>['state']>, { userId: string; keyId?: string }?]>([
    ['by its user with a key that has it', true, {}],
    ['with a key for all', true, { key: { permissions: ['llm'], agentIds: [], allAgents: true } }],
    ['without a key', true, {}, { userId: 'u' }],
    ['with a key that is gone', false, {}, { userId: 'u', keyId: 'gone' }],
    ['with a key without it', false, { key: { permissions: ['llm'], agentIds: ['b'], allAgents: false } }],
    ['with a key without `llm`', false, { key: { permissions: [], agentIds: ['a'], allAgents: true } }],
    ['by somebody who lost its Space', false, { users: [] }],
  ])('is used %s: %j', async (_, expected, changes, who = withKey) => {
    const { agentTools, state } = opened([]);
    Object.assign(state, changes);
    expect(await agentTools.mayUse(answering, who)).toBe(expected);
  });
});
