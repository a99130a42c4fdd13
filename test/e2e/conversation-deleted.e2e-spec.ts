import { until } from '../fixtures/until';
import {
  conversationPath,
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
