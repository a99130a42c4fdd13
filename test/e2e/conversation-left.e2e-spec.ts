import { until } from '../fixtures/until';
import { conversationPath, platform, saysAndWaits, upstream, withConversations } from './conversations-world';
import { ADMIN_KEY } from './harness';

withConversations();

const asked = (signal?: AbortSignal): Promise<Response> =>
  fetch(platform.url + conversationPath(), {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', 'idempotency-key': 'lost' },
    body: JSON.stringify({ message: 'What?', stream: true }),
    ...(signal && { signal }),
  });

it('a streamed answer that its client lost in the middle is given to a repeat under its key, from its beginning', async () => {
  const { finish } = saysAndWaits('One');
  const left = new AbortController();
  const first = await asked(left.signal);
  await first.body?.getReader().read();
  left.abort();
  let again: Response | undefined;
  await until(async () => (again = await asked()).status === 200, 'a repeat is let through');
  finish();
  expect(await again?.text()).toMatch(/"delta":"One"[^]+"type":"finish"[^]+\[DONE\]/);
  expect(upstream.calls).toHaveLength(1);
});
