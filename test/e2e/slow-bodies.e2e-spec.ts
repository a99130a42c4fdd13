import { type ClientRequest, request } from 'node:http';
import { startTestPlatform, type TestPlatform } from './harness';

/** A body may come for minutes: what its sender lost meanwhile counts. */

const CORE = '/api/v1/core';
let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform({ listen: true })));
afterAll(() => platform.stop());

interface Sending {
  readonly path: string;
  readonly key: string;
  readonly method?: string;
}

/** A request whose head was taken, and its body not. */
const begun = async ({ path, key, method = 'POST' }: Sending) => {
  // Whoever is known already is admitted in the turn of the loop in which the head is read.
  await platform.call(`${CORE}/users/me`, { key });
  const sent: ClientRequest = request(platform.url + path, {
    method,
    headers: {
      expect: '100-continue',
      'transfer-encoding': 'chunked',
      'x-api-key': key,
      'content-type': 'application/json',
    },
  });
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sent.once('error', reject).once('response', (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
  });
  await new Promise((resolve) => sent.once('continue', resolve).flushHeaders());
  return {
    end: (text = '') => {
      sent.end(text);
      return answered;
    },
  };
};

const revoke = (keyId: string) => platform.call(`${CORE}/api-keys/${keyId}`, { method: 'DELETE' });
const create = async (path: string, body: object, key: string) =>
  (await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body, key })).body;
const newMail = (() => {
  let mails = 0;
  return () => `slow${(mails += 1)}@example.com`;
})();

describe('a body that comes slowly', () => {
  it('changes nothing for a key that was revoked meanwhile, with a body or without', async () => {
    const first = await platform.newCaller({ role: 'admin' });
    const users = await begun({ path: `${CORE}/users`, key: first.key });
    await revoke(first.keyId);
    const email = newMail();
    const { status } = await users.end(JSON.stringify({ email, name: 'Late', role: 'admin' }));
    expect(status).toBe(401);
    expect((await platform.call(`${CORE}/users?limit=100`)).text).not.toContain(email);

    const [second, victim] = [await platform.newCaller({ role: 'admin' }), await platform.newCaller()];
    const suspension = await begun({ path: `${CORE}/users/${victim.userId}/suspend`, key: second.key });
    await revoke(second.keyId);
    expect((await suspension.end()).status).toBe(401);
    expect((await platform.call(`${CORE}/users/me`, { key: victim.key })).status).toBe(200);

    const third = await platform.newCaller();
    const chat = await begun({ path: '/api/compat/v1/chat/completions', key: third.key });
    await revoke(third.keyId);
    const messages = [{ role: 'user', content: 'Hello' }];
    expect((await chat.end(JSON.stringify({ model: 'local-chat', messages }))).status).toBe(401);
  });

  it('changes nothing for who lost the role, the permission or the Agent meanwhile', async () => {
    const { key, keyId, userId } = await platform.newCaller({ role: 'admin' });
    const users = await begun({ path: `${CORE}/users`, key });
    await platform.call(`${CORE}/users/${userId}`, { method: 'PUT', body: { role: 'member' } });
    const body = JSON.stringify({ email: newMail(), name: 'Late', role: 'admin' });
    expect((await users.end(body)).status).toBe(403);

    const agent = await create('/agents', { name: 'Mine' }, key);
    const change = async (lost: object) => {
      const slow = await begun({ path: `${CORE}/agents/${agent.id}`, method: 'PUT', key });
      await platform.call(`${CORE}/api-keys/${keyId}`, { method: 'PUT', body: lost });
      return slow.end(JSON.stringify({ name: 'Late' }));
    };
    expect(await change({ allAgents: false, agentIds: [] })).toMatchObject({
      status: 403,
      text: expect.stringContaining('agent_not_granted'),
    });
    await platform.call(`${CORE}/api-keys/${keyId}`, { method: 'PUT', body: { allAgents: true } });
    expect((await change({ permissions: ['agents:read'] })).status).toBe(403);
    expect((await platform.call(`${CORE}/agents/${agent.id}`, { key })).body).toMatchObject({ name: 'Mine' });
  });
});
