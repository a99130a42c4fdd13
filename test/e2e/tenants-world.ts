import type { ServedRoute } from '@app/http';
import { until } from '../fixtures/until';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { wholeLog } from '../fixtures/whole-log';
import { startTestGateway, type TestGateway } from './gateway';
import type { Answer, Call, TestPlatform } from './harness';
import { asUnknown } from './world';

/** What members of one Space, and owners of several resources, may not reach through each other. */

/** Words that stand in the resources of one alone. */
export const CANARY = { alice: 'Zanthoquill', bob: 'Vexolumir' } as const;
type Person = Awaited<ReturnType<TestPlatform['newCaller']>>;
export let gateway: TestGateway;
export let platform: TestPlatform;
export let routes: readonly ServedRoute[];
export let alice: Person;
export let viewer: Person;
export let editor: Person;
export let bob: Person;
/** `a1` and `a2` are of one Space, `a9` of another, which is bob's. */
export let ids: Readonly<
  Record<'s1' | 's9' | 'a1' | 'a2' | 'a9' | 'd1' | 'd2' | 'd9' | 't1' | 't9' | 'c1' | 'm1', string>
>;
export const core = (path: string): string => `/api/v1/core${path}`;
export const post = async <T = { id: string }>(path: string, body: object, { key }: { key: string }): Promise<T> => {
  const answer = await platform.call<T>(core(path), { method: 'POST', key, body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
};

export const addDocument = async (agentId: string, word: string, by: Person): Promise<string> => {
  const { id } = await post(
    `/knowledge/${agentId}/documents`,
    { name: `${word}.md`, content: `# Ferries\n\nThe ferry to ${word} leaves at nine.`, mimeType: 'text/markdown' },
    by,
  );
  await until(
    async () =>
      (await platform.call<{ status: string }>(core(`/knowledge/${agentId}/documents/${id}`), { key: by.key })).body
        .status === 'Ready',
    'the document',
  );
  return id;
};

export const ask = ({ method, declaration }: ServedRoute, path: string, call: Call): Promise<Answer> =>
  platform.call(path, {
    method: method as 'GET',
    headers: { 'x-request-id': 'same' },
    ...(declaration.body === undefined ? {} : { body: {} }),
    ...call,
  });

/** An answer without what tells two requests apart: the ids that were asked for among them. */
export const told = ({ status, headers, text }: Answer, ...asked: readonly string[]): unknown => [
  status,
  headers['content-length'],
  headers['etag'],
  asUnknown(text, ...asked),
];

/** Types of the events that callers caused; what the platform notes of itself goes on meanwhile. */
export const callersEvents = async (): Promise<readonly string[]> => {
  return (await wholeLog(platform.platform.host.stores.log))
    .filter(({ metadata }) => !(JSON.parse(metadata) as { actor: string }).actor.startsWith('system:'))
    .map(({ type }) => type);
};

/** Starts a gateway with two tenants, each with resources of their own. */
export const withTenants = (): void => {
  beforeAll(async () => {
    gateway = await startTestGateway();
    ({ platform } = gateway);
    gateway.upstream.behaviour = (response) =>
      events(response, chunk({ content: 'At nine [1].' }), chunk({}, 'stop'), usageChunk(), DONE).end();
    routes = platform.platform.routes.routes.filter(
      ({ method, url }) => method !== 'HEAD' && url.startsWith('/api/v1/core/'),
    );
    [alice, viewer, editor, bob] = [
      await platform.newCaller(),
      await platform.newCaller(),
      await platform.newCaller(),
      await platform.newCaller(),
    ];
    const newSpace = async (name: string, by: Person) => (await post('/spaces', { name }, by)).id;
    const newAgent = async (spaceId: string, by: Person) =>
      (await post('/agents', { spaceId, name: 'Guide', model: 'chat', knowledgeEnabled: true }, by)).id;
    const [s1, s9] = [await newSpace(`Of ${CANARY.alice}`, alice), await newSpace(`Of ${CANARY.bob}`, bob)];
    for (const [{ userId }, role] of [
      [viewer, 'viewer'],
      [editor, 'editor'],
    ] as const)
      await platform.call(core(`/spaces/${s1}/members/${userId}`), { method: 'PUT', key: alice.key, body: { role } });
    const [a1, a2, a9] = [await newAgent(s1, alice), await newAgent(s1, alice), await newAgent(s9, bob)];
    const [d1, d2, d9] = [
      await addDocument(a1, 'Plainham', alice),
      await addDocument(a2, CANARY.alice, alice),
      await addDocument(a9, CANARY.bob, bob),
    ];
    const [t1, t9] = [
      (await post(`/knowledge/${a1}/tags`, { name: 'Ours' }, alice)).id,
      (await post(`/knowledge/${a9}/tags`, { name: CANARY.bob }, bob)).id,
    ];
    const turn = await post<{ conversationId: string; message: { id: string } }>(
      `/llm/${a1}/conversation`,
      { message: `What of ${CANARY.alice}?` },
      alice,
    );
    ids = { s1, s9, a1, a2, a9, d1, d2, d9, t1, t9, c1: turn.conversationId, m1: turn.message.id };
  });
  afterAll(() => gateway.stop());
};
