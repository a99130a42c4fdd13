import { Unavailable } from '@app/kernel';
import { startTestPlatform, type TestPlatform } from './harness';
import { makeWorld, type World } from './world';

/** Deletions that happened, and whose answer was lost: whoever repeats one under its key hears that it is done. */

let platform: TestPlatform;
let world: World;
beforeAll(async () => {
  platform = await startTestPlatform();
  world = await makeWorld(platform);
});
afterAll(() => platform.stop());

/** From the inside out: what holds another resource goes after it. */
const DELETIONS: readonly (readonly [url: string, type: string])[] = [
  ['/knowledge/:agentId/tags/:tagId', 'TagDeleted'],
  ['/knowledge/:agentId/documents/:documentId', 'DocumentDeleted'],
  ['/llm/:agentId/conversation/:conversationId', 'ConversationDeleted'],
  ['/spaces/:spaceId/prompts/:promptId', 'PromptDeleted'],
  ['/agents/:agentId', 'AgentDeleted'],
  ['/spaces/:spaceId/members/:userId', 'SpaceMemberRemoved'],
  ['/spaces/:spaceId', 'SpaceDeleted'],
  ['/api-keys/:keyId', 'ApiKeyRevoked'],
  ['/users/:userId', 'UserDeleted'],
];

it.each(DELETIONS)(
  '%s: 503 and an unknown outcome, then 204 under the same key, and no more than that',
  async (url, type) => {
    const { log } = platform.platform.host.stores;
    const append = log.append.bind(log);
    const losing = jest.spyOn(log, 'append').mockImplementation(async (stream, events, expected) => {
      const receipt = await append(stream, events, expected);
      if (events[0]?.type === type) throw new Unavailable('log', 'the answer was lost', 'unknown');
      return receipt;
    });
    const path = world.path({ url: `/api/v1/core${url}` });
    const send = (key?: string) =>
      platform.call(path, { method: 'DELETE', ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }) });
    expect(await send(`deletes ${type}`)).toMatchObject({ status: 503, body: { outcome: 'unknown' } });
    losing.mockRestore();
    for (const time of ['again', 'and again'])
      expect([time, await send(`deletes ${type}`)]).toMatchObject([time, { status: 204, text: '' }]);
    // A revoked key is still shown, and revoking it again is revoking it.
    const known = type === 'ApiKeyRevoked' ? 204 : 404;
    expect([
      (await send()).status,
      (await send(`another ${type}`)).status,
      (await send(`another ${type}`)).status,
    ]).toEqual([known, known, known]);
    const { items } = (await platform.call<{ items: object[] }>(`/api/v1/audit/events?type=${type}&limit=100`)).body;
    expect(items).toHaveLength(1);
  },
);
