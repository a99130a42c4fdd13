import type { ServerResponse } from 'node:http';
import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { ADMIN_KEY } from './harness';
import {
  agentId,
  conversationPath,
  messagesOf,
  platform,
  says,
  send,
  startOf,
  upstream,
  withConversations,
} from './conversations-world';
import { chunksIn } from './ui-messages';

/** Providers that break off in the middle of an answer, and clients that do. */

withConversations();

interface Invocation {
  readonly outcome: string;
  readonly usage: { readonly outputTokens: number; readonly cost: string };
}
/** The newest first. */
const invocations = async (): Promise<readonly Invocation[]> =>
  (
    await platform.call<{ items: readonly Invocation[] }>(
      `/api/v1/core/usage/invocations?${EVER}&agentId=${agentId}&limit=100`,
    )
  ).body.items;
const billed = async (before: number, count: number): Promise<readonly Invocation[]> => {
  await until(async () => (await invocations()).length >= before + count, 'the invocations');
  const all = await invocations();
  expect(all).toHaveLength(before + count);
  return all.slice(0, count);
};

/** How an answer breaks off whose first words were sent. */
const BREAKS: readonly (readonly [string, (response: ServerResponse) => unknown])[] = [
  ['is cut', (response) => response.write(':', () => response.destroy())],
  ['ends without saying why', (response) => response.end()],
  ['ends with [DONE] alone', (response) => events(response, DONE).end()],
  ['says what is no JSON', (response) => events(response, 'data: {"choices":[{"del\n\n').end()],
  ['says an error', (response) => events(response, { error: { message: 'Overloaded at http://10.0.0.7.' } }).end()],
  ['says what is no answer', (response) => events(response, { choices: 'none' }).end()],
];

it.each(BREAKS)(
  'an answer whose provider %s ends its stream with an error, once, and stands as failed with what was said',
  async (_, breaks) => {
    const before = (await invocations()).length;
    upstream.behaviour = (response) => {
      events(response, chunk({ role: 'assistant', content: 'Half an ' }));
      // Somebody has heard it by then: it is not asked for again.
      setTimeout(() => breaks(response), 200);
    };
    const { status, text } = await send({ message: 'Why?', stream: true });
    expect(status).toBe(200);
    expect(text.match(/\[DONE\]/g)).toHaveLength(1);
    expect(text).not.toContain('10.0.0.7');
    const heard = await chunksIn(text);
    expect(heard.at(-1)).toEqual({ type: 'error', errorText: 'upstream_error' });
    expect(heard.some(({ type }) => type === 'finish')).toBe(false);
    const { messageMetadata, messageId } = startOf(text);
    const { conversationId } = messageMetadata;
    const failed = { id: messageId, status: 'failed', finishReason: 'error', parts: [{ text: 'Half an ' }] };
    expect((await messagesOf(conversationId))[0]).toMatchObject(failed);
    const [invocation] = await billed(before, 1);
    expect(invocation).toMatchObject({ outcome: 'failed' });
    expect(invocation?.usage.outputTokens).toBeGreaterThan(0);
    upstream.behaviour = says('A whole answer.');
    const again = await send({}, { path: `/${conversationId}/messages/${messageId}/regenerate` });
    expect([again.status, again.body.message]).toMatchObject([200, { parts: [{ text: 'A whole answer.' }] }]);
    // A failed answer is shown to no model.
    expect(upstream.calls.at(-1)?.body['messages']).toEqual([{ role: 'user', content: 'Why?' }]);
    await billed(before, 2);
    await until(() => upstream.open === 0, 'the connections');
  },
);

it('an answer that nobody follows is asked for three times, each billed, and then names what failed', async () => {
  const before = (await invocations()).length;
  upstream.behaviour = (response) =>
    events(response, chunk({ role: 'assistant', content: 'Half an ' })).write(':', () => response.destroy());
  const { status, body } = await send<{ code: string; conversationId: string; messageId: string }>({ message: 'Why?' });
  expect([status, body]).toMatchObject([502, { code: 'upstream_error' }]);
  expect((await messagesOf(body.conversationId))[0]).toMatchObject({ id: body.messageId, status: 'failed' });
  expect(upstream.calls).toHaveLength(3);
  for (const { outcome } of await billed(before, 3)) expect(outcome).toBe('failed');
});

it('forty clients that leave in the middle have forty whole answers, billed once each, and no connection stays', async () => {
  const before = (await invocations()).length;
  const goOn: (() => void)[] = [];
  upstream.cuts.length = 0;
  upstream.behaviour = (response) => {
    events(response, chunk({ role: 'assistant', content: 'Half an ' }));
    goOn.push(() => void events(response, chunk({ content: 'answer.' }), chunk({}, 'stop'), usageChunk(), DONE).end());
  };
  const left = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const client = new AbortController();
      const response = await fetch(platform.url + conversationPath(), {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'Why?', stream: true }),
        signal: client.signal,
      });
      const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      let heard = '';
      while (!heard.includes('Half an ')) heard += (await reader.read()).value;
      client.abort();
      return startOf(heard).messageMetadata.conversationId;
    }),
  );
  goOn.forEach((go) => go());
  for (const conversationId of left)
    await until(async () => {
      const [answer] = await messagesOf(conversationId);
      return answer?.status === 'complete' && answer.parts[0]?.text === 'Half an answer.';
    }, 'a whole answer');
  for (const { outcome, usage } of await billed(before, 40))
    expect([outcome, usage]).toMatchObject(['ok', { outputTokens: 10 }]);
  await until(() => upstream.open === 0, 'the connections');
  expect(upstream.cuts).toEqual([]);
});
