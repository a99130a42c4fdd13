import { startTestPlatform, type TestPlatform } from './harness';

/** JSON that takes long to read: of 16 MiB, where the route takes that much. Whoever reads it says that there is too much in it. */
const expensive = (bytes: number): string =>
  `{${[...Array(Math.floor(bytes / 12)).keys()].map((index) => `"${String(index).padStart(7, '0')}":0`).join(',')}}`;
const LARGE = expensive(16 * 1024 ** 2);
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

let platform: TestPlatform;
let agentId: string;
let spaceId: string;
const keys: Record<string, string> = {};

beforeAll(async () => {
  platform = await startTestPlatform();
  const create = async (path: string, body: unknown) =>
    (await platform.call<{ id: string }>(path, { method: 'POST', body })).body.id;
  spaceId = await create('/api/v1/core/spaces', { name: 'Closed' });
  agentId = await create('/api/v1/core/agents', { spaceId, name: 'Closed' });
  keys['granted nothing'] = (await platform.newCaller({ allAgents: false })).key;
  keys['no member'] = (await platform.newCaller()).key;
  keys['without the permission'] = (await platform.newCaller({ permissions: ['agents:read'] })).key;
  keys['unknown'] = 'ap_unknown';
});
afterAll(() => platform.stop());

const write = async (path: string, key: string | undefined, idempotent: boolean, method: 'POST' | 'PUT' = 'POST') => {
  const { status, body } = await platform.call<{ code: string }>(path, {
    method,
    ...(key === undefined ? {} : { key: keys[key] ?? '' }),
    headers: { 'content-type': 'application/json', ...(idempotent ? { 'idempotency-key': `${path} ${key}` } : {}) },
    payload: LARGE,
  });
  return [status, body.code];
};

describe.each([false, true])(
  'a body of 16 MiB that would be rejected for what is in it (Idempotency-Key: %s)',
  (idempotent) => {
    it('is not parsed for a key without access to the Agent it is for', async () => {
      const turn = `/api/v1/core/llm/${agentId}/conversation`;
      expect(await write(turn, 'unknown', idempotent)).toEqual([401, 'unauthenticated']);
      expect(await write(turn, 'without the permission', idempotent)).toEqual([403, 'forbidden']);
      expect(await write(turn, 'granted nothing', idempotent)).toEqual([403, 'agent_not_granted']);
      expect(await write(turn, 'no member', idempotent)).toEqual([404, 'not_found']);
      const documents = `/api/v1/core/knowledge/${agentId}/documents`;
      expect(await write(documents, 'no member', idempotent)).toEqual([404, 'not_found']);
      expect(await write(documents, undefined, idempotent)).toEqual([400, 'invalid_body']);
    });

    it('is not parsed where the Agent or the Space does not exist', async () => {
      expect(await write(`/api/v1/core/llm/${UNKNOWN}/conversation`, undefined, idempotent)).toEqual([
        404,
        'not_found',
      ]);
      expect(await write(`/api/v1/core/agents/${UNKNOWN}`, undefined, idempotent, 'PUT')).toEqual([404, 'not_found']);
      expect(await write(`/api/v1/core/spaces/${UNKNOWN}/prompts`, undefined, idempotent)).toEqual([404, 'not_found']);
      expect(await write(`/api/v1/core/spaces/${spaceId}`, 'no member', idempotent, 'PUT')).toEqual([404, 'not_found']);
    });

    it('is not parsed at the gateway for a key that may not call it: the model stands in the body', async () => {
      const completions = '/api/compat/v1/chat/completions';
      expect((await write(completions, 'unknown', idempotent))[0]).toBe(401);
      expect((await write(completions, 'without the permission', idempotent))[0]).toBe(403);
      expect((await write(completions, undefined, idempotent))[0]).toBe(400);
    });
  },
);
