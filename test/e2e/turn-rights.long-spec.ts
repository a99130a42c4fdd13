import {
  addDocument,
  api,
  ask,
  newAgent,
  platform,
  post,
  prompts,
  script,
  toolResults,
  upstream,
  weather,
  withTools,
} from './http-tools-world';

withTools();

/** What an answer that is under way still gets, and may do, once its user's rights or the Agent's switches change. */

const CORE = '/api/v1/core';
const SAID = 'I like oolong tea.';
/** A call of each kind. */
const EVERYTHING = [
  { name: 'propose_memory', input: { text: SAID, kind: 'personal' } },
  { name: 'propose_memory', input: { text: 'Tea is in the kitchen.', kind: 'shared' } },
  { name: 'load_skill', input: { slug: 'check-bills' } },
  { name: 'search_knowledge', input: { query: 'oranges' } },
  { name: 'weather_forecast', input: { city: 'Bonn' } },
];
const ALLOWED = [/"status":"saved"/, /"status":"proposed"/, /canary 7/, /fruit/, /"status":200/];

let spaceId: string;
beforeAll(async () => {
  spaceId = (await post<{ id: string }>('/spaces', { name: 'Team' })).body.id;
});

interface Member {
  readonly userId: string;
  readonly keyId: string;
  readonly key: string;
}

/** An Agent with one of everything, and a viewer of its Space. */
const world = async () => {
  const tools = [weather()];
  const agentId = await newAgent({ spaceId, knowledgeEnabled: true, sharedMemoryEnabled: true, tools });
  const skill = { name: 'Check bills', description: 'Use it for bills.', instructions: 'Add up canary 7.' };
  expect((await post('/skills', { scope: 'agent', agentId, publish: true, ...skill })).status).toBe(201);
  await addDocument(agentId, 'fruit.md', '# Fruit\n\nThe oranges are in the cellar.');
  const member = await platform.newCaller();
  await send('PUT', `/spaces/${spaceId}/members/${member.userId}`, { role: 'viewer' });
  await send('PUT', `/api-keys/${member.keyId}`, { allAgents: false, agentIds: [agentId] });
  upstream.calls.length = 0;
  return { agentId, member };
};
const send = async (method: 'PUT' | 'POST' | 'DELETE', path: string, body?: object) => {
  const { status, text } = await platform.call(CORE + path, { method, ...(body && { body }) });
  expect([status < 300, text]).toEqual([true, text]);
};
/** Makes a change while the model writes its first step. */
const during = (change: () => Promise<unknown>): void => {
  const { behaviour } = upstream;
  let isFirst = true;
  upstream.behaviour = async (response, call) => {
    if (call.body['tools'] !== undefined && isFirst) {
      isFirst = false;
      await change();
    }
    return behaviour(response, call);
  };
};
const eventsOf = async (type: string, agentId: string): Promise<number> => {
  const path = `/api/v1/audit/events?type=${type}&limit=100`;
  const { items } = (await platform.call<{ items: { data: { agentId: string } }[] }>(path)).body;
  return items.filter(({ data }) => data.agentId === agentId).length;
};
const remembered = async (agentId: string): Promise<number> =>
  (await eventsOf('MemorySaved', agentId)) + (await eventsOf('MemoryProposed', agentId));

it('an answer calls everything that its user may use', async () => {
  const { agentId, member } = await world();
  script.push(EVERYTHING, 'Done.');
  const { status } = await ask(agentId, SAID, { key: member.key });
  expect(status).toBe(200);
  const results = toolResults();
  expect(results).toHaveLength(ALLOWED.length);
  for (const [at, result] of results.entries()) expect(result).toMatch(ALLOWED[at] as RegExp);
  expect(await remembered(agentId)).toBe(2);
});

describe('rights that are gone in the middle of an answer', () => {
  it.each<[string, (member: Member, agentId: string) => Promise<void>]>([
    ['its user is removed from the Space', ({ userId }) => send('DELETE', `/spaces/${spaceId}/members/${userId}`)],
    ['its user is suspended', ({ userId }) => send('POST', `/users/${userId}/suspend`)],
    ['its key is revoked', ({ keyId }) => send('DELETE', `/api-keys/${keyId}`)],
    ['its key loses the Agent', ({ keyId }) => send('PUT', `/api-keys/${keyId}`, { agentIds: [] })],
    ['its key loses `llm`', ({ keyId }) => send('PUT', `/api-keys/${keyId}`, { permissions: ['spaces:read'] })],
  ])('end it for tools, Knowledge, Skills and memories: %s', async (_, change) => {
    const { agentId, member } = await world();
    during(() => change(member, agentId));
    script.push(EVERYTHING, 'Done.');
    await ask(agentId, SAID, { key: member.key });
    const results = toolResults();
    expect(results).toHaveLength(EVERYTHING.length);
    for (const result of results) expect(result).toMatch(/can no longer use this assistant/);
    expect(api.asked).toEqual([]);
    expect(prompts()).not.toMatch(/canary 7/);
    expect(await remembered(agentId)).toBe(0);
  });
});

describe('what is switched off in the middle of an answer', () => {
  const OFF = /memory is turned off/;
  const GONE = /changed or removed/;
  it.each<[string, object, readonly RegExp[]]>([
    ['memory', { memoryEnabled: false }, [OFF, OFF]],
    ['shared memory', { sharedMemoryEnabled: false }, [/"status":"saved"/, OFF]],
    ['memory, as the Agent is public', { public: { enabled: true } }, [OFF, OFF]],
    ['Knowledge', { knowledgeEnabled: false }, [/saved/, /proposed/, /canary/, GONE]],
    ['a tool', { tools: [] }, [/saved/, /proposed/, /canary/, /fruit/, GONE]],
  ])('is off from then on: %s', async (_, off, expected) => {
    const { agentId, member } = await world();
    during(() => send('PUT', `/agents/${agentId}`, off));
    script.push(EVERYTHING, 'Done.');
    await ask(agentId, SAID, { key: member.key });
    for (const [at, pattern] of expected.entries()) expect(toolResults()[at]).toMatch(pattern);
  });

  it('is not called where it must be approved from then on', async () => {
    const { agentId, member } = await world();
    const knowledge = { id: 'docs', name: 'Documents', kind: 'knowledge', enabled: true, approval: 'always' };
    during(() => send('PUT', `/agents/${agentId}`, { tools: [weather({ approval: 'always' }), knowledge] }));
    script.push(EVERYTHING, 'Done.');
    await ask(agentId, SAID, { key: member.key });
    for (const result of toolResults().slice(3)) expect(result).toMatch(GONE);
    expect(api.asked).toEqual([]);
  });
});
