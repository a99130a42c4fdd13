import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';

let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform()), 60_000);
afterAll(() => platform.stop());

const made = async (path: string, body: object): Promise<string> => {
  const { status, body: answer } = await platform.call<{ id: string }>(CORE + path, { method: 'POST', body });
  expect(status).toBe(201);
  return answer.id;
};
const member = async (spaceId: string) => {
  const caller = await platform.newCaller();
  const path = `${CORE}/spaces/${spaceId}/members/${caller.userId}`;
  expect((await platform.call(path, { method: 'PUT', body: { role: 'editor' } })).status).toBe(200);
  return { ...caller, leave: () => platform.call(path, { method: 'DELETE' }) };
};
/** A write under a key, which may be repeated. */
const writing = (key: string, path: string, body: object, method: 'POST' | 'PUT' = 'POST') => {
  const headers = { 'idempotency-key': `${method} ${path}` };
  return () => platform.call<{ id: string; code?: string }>(CORE + path, { method, key, headers, body });
};

describe('a repeat of who lost access', () => {
  it('is not given the answer about what is in a Space', async () => {
    const spaceId = await made('/spaces', { name: 'Harbour' });
    const { key, leave } = await member(spaceId);
    const text = { description: 'Ties knots.', instructions: 'Tie a knot.' };
    const writes = [
      writing(key, '/agents', { spaceId, name: 'Guide' }),
      writing(key, '/skills', { scope: 'space', spaceId, name: 'Knots', ...text }),
    ];
    const first = await Promise.all(writes.map((write) => write()));
    expect(first.map(({ status }) => status)).toEqual([201, 201]);
    const [, skill] = first;
    const renames = writing(key, `/skills/${skill?.body.id}`, { name: 'Hitches' }, 'PUT');
    expect((await renames()).status).toBe(200);
    const all = [...writes, renames];
    const again = await Promise.all(all.map((write) => write()));
    expect(again.map(({ status }) => status)).toEqual([201, 201, 200]);
    expect((await leave()).status).toBe(204);
    const after = await Promise.all(all.map((write) => write()));
    expect(after.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(after.map(({ text: said }) => /Knots|Hitches|Guide/.test(said))).toEqual([false, false, false]);
  });

  it('is not given the answer about a Space that they left, or a user who is deleted', async () => {
    const { key, userId } = await platform.newCaller();
    const creates = writing(key, '/spaces', { name: 'Pier' });
    const { status, body: space } = await creates();
    expect(status).toBe(201);
    const other = await platform.newCaller();
    const members = `${CORE}/spaces/${space.id}/members`;
    await platform.call(`${members}/${other.userId}`, { method: 'PUT', key, body: { role: 'owner' } });
    expect((await platform.call(`${members}/${userId}`, { method: 'DELETE', key })).status).toBe(204);
    expect((await creates()).status).toBe(404);

    const headers = { 'idempotency-key': 'user' };
    const body = { email: 'deckhand@example.org', name: 'Deckhand', role: 'member' };
    const invite = () => platform.call<{ id: string }>(`${CORE}/users`, { method: 'POST', headers, body });
    const made = await invite();
    expect(made.status).toBe(201);
    expect((await platform.call(`${CORE}/users/${made.body.id}`, { method: 'DELETE' })).status).toBe(204);
    await until(async () => (await invite()).status === 404, 'the answer to be erased');
  });

  it('is given one about what is still theirs', async () => {
    const { key } = await platform.newCaller();
    const own = writing(key, '/agents', { name: 'Mine' });
    const [first, again] = [await own(), await own()];
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  });

  it('is not given the answer about an Agent that its key lost', async () => {
    const spaceId = await made('/spaces', { name: 'Quay' });
    const { status, body } = await platform.call<{ id: string; secret: string }>(`${CORE}/api-keys`, {
      method: 'POST',
      body: { name: 'Narrow', agentIds: [], permissions: ['agents:read', 'agents:write', 'spaces:read'] },
    });
    expect(status).toBe(201);
    const creates = writing(body.secret, '/agents', { spaceId, name: 'Pilot' });
    expect([(await creates()).status, (await creates()).status]).toEqual([201, 201]);
    const narrowed = await platform.call(`${CORE}/api-keys/${body.id}`, { method: 'PUT', body: { agentIds: [] } });
    expect(narrowed.status).toBe(200);
    expect(await creates()).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});
