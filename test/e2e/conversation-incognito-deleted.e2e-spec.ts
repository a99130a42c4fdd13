import { until } from '../fixtures/until';
import { platform, saysAndWaits, upstream, withConversations } from './conversations-world';
import { ADMIN_KEY } from './harness';

withConversations();

it('an incognito conversation ends with its Agent, and its model is left', async () => {
  const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Doomed', knowledgeEnabled: false },
  });
  const { finish } = saysAndWaits('Half');
  const stream = await fetch(`${platform.url}/api/v1/core/llm/${agent.body.id}/conversation`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Why?', kind: 'incognito', stream: true }),
  });
  await until(() => upstream.open === 1);
  expect((await platform.call(`/api/v1/core/agents/${agent.body.id}`, { method: 'DELETE' })).status).toBe(204);
  await until(() => upstream.open === 0, 'the provider is left');
  expect(await stream.text()).toContain('"errorText":"not_found"');
  finish();
});
