import { CORE, MINE, type MemoryWorld, startMemoryWorld } from './memory-world';
import { UNKNOWN_ID } from './world';
import { pino } from 'pino';

/** Words that stand in one memory each. */
const CANARIES = ['Vandelquist', 'Ozymarble', 'Threnobolt', 'Kestrelwick'] as const;
const lines: string[] = [];

let world: MemoryWorld;
beforeAll(async () => {
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  world = await startMemoryWorld({ logger });
});
afterAll(() => world.platform.stop());

it('no word of a memory reaches another user, another Agent or Space, an admin, the lines that are logged, or the metrics', async () => {
  const { platform, owner, viewer, stranger, agentId, path, list, post, newAgent } = world;
  const other = await newAgent();
  await post(viewer.key, { text: `I like ${CANARIES[0]}` });
  await post(viewer.key, { text: `I like ${CANARIES[1]}` }, other);
  const proposal = (await post(viewer.key, { text: `Use ${CANARIES[2]}`, kind: 'shared' })).body;
  await world.shared(viewer.key, `Drink ${CANARIES[3]}`);
  const mine = (await list(viewer.key)).map(({ text }) => text).join();
  expect(CANARIES.filter((word) => mine.includes(word))).toEqual([CANARIES[0], CANARIES[2], CANARIES[3]]);
  const seen = async (key: string) =>
    (
      await Promise.all(
        [path(), path(other), `${path()}?q=like`, MINE, `${path()}/${proposal.id}`, `${CORE}/agents/${agentId}`].map(
          async (asked) => (await platform.call(asked, { key })).text,
        ),
      )
    ).join();
  const found = async (key: string) => {
    const texts = await seen(key);
    return CANARIES.filter((word) => texts.includes(word));
  };
  expect(await found(owner.key)).toEqual([CANARIES[3]]);
  expect(await found(stranger.key)).toEqual([]);
  // An admin who is made a member uses the Agent as any other.
  expect((await platform.call(path())).status).toBe(404);
  const metrics = (await platform.call('/metrics')).text;
  expect(lines.length).toBeGreaterThan(20);
  for (const word of CANARIES) expect(lines.join('') + metrics).not.toContain(word);
});

it('foreign ids are unknown, on every route', async () => {
  const { platform, owner, viewer, stranger, path, post, newAgent } = world;
  const other = await newAgent();
  const { body } = await post(owner.key, { text: 'I like secrets' });
  const asked = [
    ['GET', ''],
    ['PUT', '', { text: 'Mine now' }],
    ['DELETE', ''],
    ['POST', '/confirm'],
    ['POST', '/save-for-me'],
    ['POST', '/discard'],
  ] as const;
  const said = ({ status, text }: { status: number; text: string }) => [
    status,
    text.replaceAll(body.id, UNKNOWN_ID).replaceAll(/"requestId":"[^"]*"/g, ''),
  ];
  for (const [method, rest, sent] of asked)
    for (const [key, agentId] of [
      [viewer.key, undefined],
      [stranger.key, undefined],
      [owner.key, other],
    ] as const) {
      const ask = (id: string) =>
        platform.call(`${path(agentId)}/${id}${rest}`, { method, key, ...(sent === undefined ? {} : { body: sent }) });
      const [foreign, unknown] = [await ask(body.id), await ask(UNKNOWN_ID)];
      expect([method, rest, ...said(foreign)]).toEqual([method, rest, ...said(unknown)]);
      expect(foreign.status).toBe(404);
    }
  expect((await platform.call(`${path()}/${body.id}`, { key: owner.key })).body).toEqual(body);
});

const keyWith = async (permissions: readonly string[], agentIds: readonly string[]) =>
  (
    await world.platform.call<{ secret: string }>(`${CORE}/api-keys`, {
      method: 'POST',
      key: world.owner.key,
      body: { name: 'narrow', permissions, agentIds },
    })
  ).body.secret;

it('a key has the memories that it is granted', async () => {
  const { platform, agentId, newAgent, path } = world;
  const other = await newAgent();
  const reading = await keyWith(['memory:read'], [agentId]);
  expect((await platform.call(path(), { key: reading })).status).toBe(200);
  const refused = await platform.call(path(), { method: 'POST', key: reading, body: { text: 'x' } });
  expect([refused.status, refused.body]).toMatchObject([403, { code: 'forbidden' }]);
  for (const foreign of [other, UNKNOWN_ID])
    expect((await platform.call(path(foreign), { key: reading })).body).toMatchObject({ code: 'agent_not_granted' });
  for (const method of ['GET', 'DELETE'] as const) {
    const key = await keyWith(['memory:read', 'memory:write'], [agentId]);
    expect((await platform.call(MINE, { method, key })).body).toMatchObject({ code: 'forbidden' });
  }
});

it('a key that may not change memories deletes a conversation, and none that came from it', async () => {
  const { platform, agentId } = world;
  const [talking, both] = [await keyWith(['llm'], [agentId]), await keyWith(['llm', 'memory:write'], [agentId])];
  const conversations = `${CORE}/llm/${agentId}/conversation`;
  const said = await platform.call<{ conversationId: string }>(conversations, {
    method: 'POST',
    key: talking,
    body: { message: 'Hello' },
  });
  const one = `${conversations}/${said.body.conversationId}`;
  const refused = await platform.call(`${one}?memories=true`, { method: 'DELETE', key: talking });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('memory:write')]);
  expect((await platform.call(one, { key: talking })).status).toBe(200);
  expect((await platform.call(`${one}?memories=true`, { method: 'DELETE', key: both })).status).toBe(204);
});
