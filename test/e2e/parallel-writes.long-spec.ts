import { repeated } from '../fixtures/repeated';
import { until } from '../fixtures/until';
import { wholeLog } from '../fixtures/whole-log';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import { ADMIN_KEY, type Answer, startTestPlatform, type TestPlatform } from './harness';

/** What many ask for at once happens for each of them, once: also where their commands meet in one stream. */

const CORE = '/api/v1/core';
const CALLERS = 24;

let platform: TestPlatform;

interface Sent {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

interface Caller {
  readonly key: string;
  readonly userId: string;
  readonly agentId: string;
  readonly spaceId: string;
}

/** An admin with a Space, and an Agent in it. */
const newAdmin = async (): Promise<Caller> => {
  const { key, userId } = await platform.newCaller({ role: 'admin' });
  const { body: space } = await platform.call<{ id: string }>(`${CORE}/spaces`, {
    method: 'POST',
    key,
    body: { name: `Of ${userId}` },
  });
  const { body: agent } = await platform.call<{ id: string }>(`${CORE}/agents`, {
    method: 'POST',
    key,
    body: { name: 'Guide', spaceId: space.id, knowledgeEnabled: false },
  });
  return { key, userId, agentId: agent.id, spaceId: space.id };
};

/** How a request was answered, and what it made. */
const made = ({
  status,
  body,
}: Answer<{ id: string; conversationId?: string }>): readonly [status: number, id: string] => [
  status,
  body.conversationId ?? body.id,
];

/** How many events of a type are in the log, but for those that make personal Spaces. */
const events = async (type: string): Promise<number> => {
  const found = await wholeLog(platform.platform.host.stores.log, { filter: { types: [type] } });
  return found.filter(({ data }) => !data.includes('"kind":"personal"')).length;
};

/** Sends so many requests at once, each under a key of its own. */
const atOnce = (name: string, sent: (number: number) => Sent, count = CALLERS) =>
  Promise.all(
    Array.from({ length: count }, (_, number) => {
      const { path, body, key } = sent(number);
      return platform.call<{ id: string }>(`${CORE}${path}`, {
        method: 'POST',
        key,
        body,
        headers: { 'idempotency-key': `${name} ${number}` },
      });
    }),
  );

/** Each race often, also where more of the same prove what fewer do, only in `test/exhaustive`. */
const EVERY = [CALLERS, 200];

describe.each<readonly [log: string, agents: readonly number[], start: () => Promise<EventStoreDouble | undefined>]>([
  ['the embedded log', repeated([200], EVERY), async () => undefined],
  ['EventStoreDB', repeated([CALLERS], EVERY), () => startEventStoreDouble()],
])('24 at once, on %s,', (_, agents, start) => {
  let server: EventStoreDouble | undefined;
  beforeAll(async () => {
    server = await start();
    platform = await startTestPlatform(server === undefined ? {} : { environment: { EVENTSTORE_URL: server.url } });
  });
  afterAll(async () => {
    await platform.stop();
    await server?.stop();
  });

  it.each(agents)(
    'make an Agent each, granted to the key that they share, and a repeat makes no other (%d)',
    async (count) => {
      const { key, keyId } = await platform.newCaller({ allAgents: false });
      const make = () =>
        atOnce(`agents ${count}`, (number) => ({ path: '/agents', body: { name: `Agent ${number}` }, key }), count);
      const first = await make();
      expect(first.map(({ status }) => status)).toEqual(first.map(() => 201));
      const ids = first.map(({ body }) => body.id);
      expect(new Set(ids).size).toBe(count);
      // The request leaves to a policy what the log has no time for; a repeat is given nothing that its key may not use yet.
      const granted = async () =>
        (await platform.call<{ agentIds: string[] }>(`${CORE}/api-keys/${keyId}`)).body.agentIds;
      await until(async () => (await granted()).length === count, 'the grants');
      const again = await make();
      expect(again.map(({ status, body }) => [status, body.id])).toEqual(ids.map((id) => [201, id]));
      expect((await granted()).toSorted()).toEqual(ids.toSorted());
    },
  );

  it.each<
    readonly [title: string, event: string, prepare: (caller: Caller) => Promise<(number: number) => Omit<Sent, 'key'>>]
  >([
    [
      'make a user each',
      'UserCreated',
      async () => (number) => ({
        path: '/users',
        body: { email: `many${number}@example.com`, name: 'Somebody', role: 'member' },
      }),
    ],
    [
      'make an admin each',
      'UserCreated',
      async () => (number) => ({
        path: '/users',
        body: { email: `many-admin${number}@example.com`, name: 'Admin', role: 'admin' },
      }),
    ],
    [
      'make a Space each',
      'SpaceCreated',
      async () => (number) => ({ path: '/spaces', body: { name: `Space ${number}`, slug: `space-${number}` } }),
    ],
    [
      'make an API key each',
      'ApiKeyCreated',
      async () => (number) => ({
        path: '/api-keys',
        body: { name: `Key ${number}`, agentIds: [], permissions: ['agents:read'] },
      }),
    ],
    [
      'add a document each to one Agent',
      'DocumentAdded',
      async ({ agentId }) =>
        (number) => ({
          path: `/knowledge/${agentId}/documents`,
          body: { name: `${number}.md`, content: `# Guide ${number}`, mimeType: 'text/markdown' },
        }),
    ],
    [
      'make a tag each in one Space',
      'TagCreated',
      async ({ agentId }) =>
        (number) => ({ path: `/knowledge/${agentId}/tags`, body: { name: `Tag ${number}` } }),
    ],
    [
      'make a prompt each in one Space',
      'PromptAdded',
      async ({ spaceId }) =>
        (number) => ({ path: `/spaces/${spaceId}/prompts`, body: { title: `Prompt ${number}`, text: 'Say hello.' } }),
    ],
    [
      'begin a conversation each with one Agent',
      'ConversationStarted',
      async ({ agentId }) =>
        (number) => ({ path: `/llm/${agentId}/conversation`, body: { message: `Question ${number}?` } }),
    ],
    [
      'set a limit each',
      'SpendLimitSet',
      async ({ userId }) =>
        (number) => ({
          path: '/cost-control',
          body: { scope: { type: 'user', id: userId }, amount: String(number + 1), window: 'day', action: 'warn' },
        }),
    ],
  ])('%s, and a repeat makes no other', async (name, event, prepare) => {
    const caller = await newAdmin();
    const sent = await prepare(caller);
    const make = () => atOnce(name, (number) => ({ ...sent(number), key: caller.key }));
    const before = await events(event);
    const first = await make();
    expect(first.map(({ status, text }) => (status < 300 ? 'made' : text))).toEqual(first.map(() => 'made'));
    expect((await make()).map(made)).toEqual(first.map(made));
    expect(new Set(first.map((answer) => made(answer)[1])).size).toBe(CALLERS);
    expect((await events(event)) - before).toBe(CALLERS);
  });

  it('become members of one Space, and leave it', async () => {
    const { body: space } = await platform.call<{ id: string }>(`${CORE}/spaces`, {
      method: 'POST',
      body: { name: 'Many' },
    });
    const users = await Promise.all(Array.from({ length: CALLERS }, async () => (await platform.newCaller()).userId));
    const change = (method: 'PUT' | 'DELETE') =>
      Promise.all(
        users.map((userId) =>
          platform.call(`${CORE}/spaces/${space.id}/members/${userId}`, {
            method,
            ...(method === 'PUT' ? { body: { role: 'viewer' } } : {}),
          }),
        ),
      );
    expect((await change('PUT')).map(({ status }) => status)).toEqual(users.map(() => 200));
    expect((await change('DELETE')).map(({ status }) => status)).toEqual(users.map(() => 204));
  });

  it('cease to be admins, while one remains', async () => {
    const { key, userId } = await newAdmin();
    const admins = await Promise.all(
      Array.from({ length: CALLERS }, async () => (await platform.newCaller({ role: 'admin' })).userId),
    );
    const demoted = await Promise.all(
      admins.map((id) => platform.call(`${CORE}/users/${id}`, { method: 'PUT', key, body: { role: 'member' } })),
    );
    expect(demoted.map(({ status }) => status)).toEqual(admins.map(() => 200));
    expect((await platform.call(`${CORE}/users/${userId}`)).body['role']).toBe('admin');
  });

  it('want one name, which one gets; the others hear so, and leave nothing behind', async () => {
    const answers = await atOnce('names', () => ({ path: '/spaces', body: { name: 'Wanted' }, key: ADMIN_KEY }));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...answers.slice(1).map(() => 409)]);
    expect(
      new Set(
        answers.filter(({ status }) => status === 409).map(({ body }) => (body as unknown as { code: string }).code),
      ),
    ).toEqual(new Set(['name_taken']));
    const [winner] = answers.filter(({ status }) => status === 201);
    expect((await platform.call(`${CORE}/spaces/${winner?.body.id ?? ''}`, { method: 'DELETE' })).status).toBe(204);
    expect(
      (await atOnce('once more', () => ({ path: '/spaces', body: { name: 'Wanted' }, key: ADMIN_KEY }), 1)).map(
        ({ status }) => status,
      ),
    ).toEqual([201]);
  });
});
