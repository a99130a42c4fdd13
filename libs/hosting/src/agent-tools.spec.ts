import type { AgentAccess } from '@app/access';
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
const asker = { userId: 'u' };
const agent = { agentId: 'a', spaceId: 's', knowledgeEnabled: true };

const opened = (tools: StoredTool[]) => {
  const state = { tools, users: ['u'], calls: [] as HttpCall[], warnings: [] as unknown[] };
  const parts: ToolsParts = {
    access: {
      agentOf: async (userId: string) =>
        state.users.includes(userId)
          ? // The tools alone are read of it.
            ({ agent: { version: { config: { tools: state.tools } } } } as unknown as AgentAccess)
          : undefined,
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
      (await agentTools.of(agent, asker)).map(({ name, description, approval }) => [name, description, approval]),
    ).toEqual([
      ['search_knowledge', expect.any(String), 'never'],
      ['api_readA', 'Api: Reads it.', 'always'],
      ['api_post_b', 'Api: POST /b', 'always'],
    ]);
  });

  it('search in Knowledge only where it is enabled, and as its own entry says', async () => {
    const names = async (tools: StoredTool[], knowledgeEnabled = true) =>
      (await opened(tools).agentTools.of({ ...agent, knowledgeEnabled }, asker)).map(({ name, approval }) => [
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
    const [, readA] = await agentTools.of(agent, asker);
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
    const [search, readA] = await agentTools.of(agent, asker);
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
});
