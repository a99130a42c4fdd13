import { until } from '../fixtures/until';
import {
  agentId,
  ask,
  conversationPath,
  erased,
  messagesOf,
  platform,
  remove,
  says,
  saysAndWaits,
  upstream,
  withConversations,
} from './conversations-world';
import { ADMIN_KEY } from './harness';

withConversations();

const asked = (path: string, body: object, key: string): Promise<Response> =>
  fetch(platform.url + path, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ stream: true, ...body }),
  });

it('an answer whose Agent is deleted is left: its model makes no more of it', async () => {
  const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Doomed', knowledgeEnabled: false },
  });
  const { finish } = saysAndWaits('Half');
  const stream = await asked(`/api/v1/core/llm/${agent.body.id}/conversation`, { message: 'Why?' }, 'doomed');
  await until(() => upstream.open === 1);
  expect((await platform.call(`/api/v1/core/agents/${agent.body.id}`, { method: 'DELETE' })).status).toBe(204);
  await until(() => upstream.open === 0, 'the provider is left');
  expect(await stream.text()).toContain('"errorText":"not_found"');
  finish();
});

it.each(['its answer', 'its conversation'])(
  'a streamed question whose key is sent again once %s was deleted is not found, and no model is asked',
  async (what) => {
    upstream.behaviour = says('A secret.');
    const text = await (await asked(conversationPath(), { message: 'What?' }, what)).text();
    const conversationId = /"conversationId":"([^"]+)"/.exec(text)?.[1] ?? '';
    const [answer] = await messagesOf(conversationId);
    if (what === 'its answer') await remove(conversationId, answer?.id ?? '');
    else await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' });
    const again = await asked(conversationPath(), { message: 'What?' }, what);
    expect([again.status, await again.text()]).toEqual([404, expect.not.stringContaining('A secret.')]);
    expect(upstream.calls).toHaveLength(1);
  },
);

describe('what was generated from a conversation, when its request is repeated', () => {
  const generated = async (name: 'generateText' | 'generateObject', conversationId: string) =>
    platform.call<{ kind?: string }>(`/api/v1/core/llm/${agentId}/${name}`, {
      method: 'POST',
      headers: { 'idempotency-key': `${name} ${conversationId}` },
      body: {
        prompt: 'Sum up.',
        conversationId,
        ...(name === 'generateObject' && { schema: { type: 'object' } }),
      },
    });

  it.each(['generateText', 'generateObject'] as const)(
    'is gone with one of the messages that it was made from, and no model is asked: %s',
    async (name) => {
      upstream.behaviour = says('Sure.');
      const { conversationId } = await ask('The code is Zorblattique.');
      upstream.behaviour = says('{"code":"Zorblattique"}');
      const first = await generated(name, conversationId);
      expect([first.status, (await generated(name, conversationId)).text]).toEqual([200, first.text]);
      expect(first.text).toContain('Zorblattique');
      const question = (await messagesOf(conversationId)).find(({ role }) => role === 'user')?.id ?? '';
      await remove(conversationId, question);
      await erased(`conversation-${conversationId}/${question}`);
      const again = await generated(name, conversationId);
      expect([again.status, again.text]).toEqual([404, expect.not.stringContaining('Zorblattique')]);
      expect(again.text).toContain(`Message ${question} not found`);
      expect(upstream.calls).toHaveLength(2);
    },
  );

  it('is gone with the file that it was made from', async () => {
    upstream.behaviour = says('Sure.');
    const url = `data:text/plain;base64,${Buffer.from('Zorblattique').toString('base64')}`;
    const file = { type: 'file', mediaType: 'text/plain', url, filename: 'a.txt' };
    const turn = await platform.call<{ conversationId: string }>(conversationPath(), {
      method: 'POST',
      body: { message: { parts: [file] } },
    });
    const { conversationId } = turn.body;
    const question = (await messagesOf(conversationId)).find(({ role }) => role === 'user');
    const [part] = question?.parts ?? [];
    const fileId = part !== undefined && 'fileId' in part ? String(part.fileId) : '';
    upstream.behaviour = says('It says Zorblattique.');
    const read = () =>
      platform.call(`/api/v1/core/llm/${agentId}/generateText`, {
        method: 'POST',
        headers: { 'idempotency-key': fileId },
        body: { messages: [{ role: 'user', content: [{ type: 'file', fileId }] }] },
      });
    expect((await read()).text).toContain('Zorblattique');
    await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' });
    await erased(`attachment-${fileId}`);
    const again = await read();
    expect([again.status, again.text]).toEqual([404, expect.not.stringContaining('Zorblattique')]);
  });
});
