import { chunk, DONE, events } from '../fixtures/upstream-double';
import { conversationPath, platform, upstream, withConversations } from './conversations-world';

/** A key that is revoked while its answer streams: its reader hears why, and the user goes on reading with another one. */

withConversations();

const newKey = async (): Promise<{ id: string; secret: string }> =>
  (
    await platform.call<{ id: string; secret: string }>('/api/v1/core/api-keys', {
      method: 'POST',
      body: { name: 'reader', permissions: ['llm'], allAgents: true },
    })
  ).body;
const revoke = (id: string) => platform.call(`/api/v1/core/api-keys/${id}`, { method: 'DELETE' });

/** An answer under way, its first words heard, and its reader. */
const begun = async (key: string) => {
  let goOn = (): void => undefined;
  upstream.behaviour = (response, { body }) => {
    const model = String(body['model']);
    events(response, chunk({ role: 'assistant', content: 'Half ' }, null, model));
    goOn = () => void events(response, chunk({ content: 'done.' }, null, model), chunk({}, 'stop', model), DONE).end();
  };
  const response = await fetch(platform.url + conversationPath(), {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Why?', stream: true }),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  const readUntil = async (wanted: string | undefined): Promise<string> => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      heard += piece.value;
      if (wanted !== undefined && heard.includes(wanted)) break;
    }
    return heard;
  };
  await readUntil('Half ');
  const conversationId = /"conversationId":"([^"]+)"/.exec(heard)?.[1] as string;
  const resumed = (reading: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(platform.url + conversationPath(`/${conversationId}/stream`), {
      headers: { ...headers, 'x-api-key': reading },
    });
  return { conversationId, end: () => readUntil(undefined), goOn: () => goOn(), resumed };
};

it('ends with an error and [DONE], from where another key of the user goes on', async () => {
  const [first, second] = [await newKey(), await newKey()];
  const { end, goOn, resumed } = await begun(first.secret);
  const following = (await resumed(first.secret)).text();
  expect((await revoke(first.id)).status).toBe(204);
  for (const heard of [await end(), await following]) {
    const last = heard.trimEnd().split('\n\n').slice(-2);
    expect(last.map((event) => event.split('data: ')[1])).toEqual([
      JSON.stringify({ type: 'error', errorText: 'unauthenticated' }),
      '[DONE]',
    ]);
  }
  expect((await resumed(first.secret)).status).toBe(401);
  const place = [...(await end()).matchAll(/^id: (.+)$/gm)].at(-1)?.[1] as string;
  const rest = (await resumed(second.secret, { 'last-event-id': place })).text();
  goOn();
  // All that was not heard, and nothing else: the answer itself has lost nothing.
  expect(await rest).toMatch(/"delta":"done\."[^]*"type":"finish"[^]*\[DONE\]/);
  expect(await rest).not.toMatch(/Half|"type":"error"/);
});
