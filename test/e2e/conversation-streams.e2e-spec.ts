import { AbstractChat, DefaultChatTransport, type UIMessage } from 'ai';
import { PlainChatState } from '../fixtures/chat-state';
import { spoken } from '../fixtures/spoken';
import { behaves } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { startTestGateway, type TestGateway } from './gateway';
import { ADMIN_KEY } from './harness';

/** Streams that survive a lost connection: as the AI SDK reads them, and as plain `fetch` does. */

let gateway: TestGateway;
let path: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  const agent = await gateway.platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Guide', model: 'chat', systemPrompt: 'Be brief.' },
  });
  path = `/api/v1/core/llm/${agent.body.id}/conversation`;
});
afterAll(() => gateway.stop());

interface Message {
  readonly id: string;
  readonly parentId: string | null;
  readonly status: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
}
const messagesOf = async (id: string) =>
  (await gateway.platform.call<{ items: readonly Message[] }>(`${path}/${id}/messages`)).body.items;
const ask = (body: object) =>
  fetch(`${gateway.platform.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ message: 'Why?', ...body }),
  });
/** Reads a stream until something was heard of it. */
const reading = async (response: Response) => {
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  const readUntil = async (wanted: string): Promise<string> => {
    while (!heard.includes(wanted)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`ended without ${wanted}: ${heard}`);
      heard += value;
    }
    return heard;
  };
  return { readUntil, leave: () => reader.cancel() };
};
const idsIn = (heard: string): readonly string[] => [...heard.matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);
const textIn = (heard: string): string =>
  [...heard.matchAll(/"type":"text-delta".*?"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');
const conversationIn = (heard: string): string => /"conversationId":"([^"]+)"/.exec(heard)?.[1] ?? '';
const messageIn = (heard: string): string => /"messageId":"([^"]+)"/.exec(heard)?.[1] ?? '';

describe("useChat's transport", () => {
  class Chat extends AbstractChat<UIMessage> {
    constructor(state: PlainChatState, conversationId: () => string) {
      const headers = { 'x-api-key': ADMIN_KEY };
      super({
        state,
        transport: new DefaultChatTransport({
          api: `${gateway.platform.url}${path}`,
          headers,
          prepareSendMessagesRequest: ({ messages }) => ({
            headers,
            body: { message: { parts: messages.at(-1)?.parts }, stream: true },
          }),
          prepareReconnectToStreamRequest: () => ({
            headers,
            api: `${gateway.platform.url}${path}/${conversationId()}/stream`,
          }),
        }),
      });
    }
  }

  it('asks, loses its connection in the middle, and resumes to the same message', async () => {
    const call = spoken(gateway.upstream);
    const state = new PlainChatState();
    let conversationId = '';
    const chat = new Chat(state, () => conversationId);
    const sent = chat.sendMessage({ text: 'Why?' });
    const model = await call(0);
    model.say('Half an ', 'ans');
    const said = () => state.messages.at(-1)?.parts.find((part) => part.type === 'text' && part.text === 'Half an ans');
    await until(() => state.messages.at(-1)?.role === 'assistant' && said() !== undefined, 'the first half');
    ({ conversationId } = (state.messages.at(-1) as UIMessage).metadata as { conversationId: string });
    await chat.stop();
    await sent;
    const again = new PlainChatState();
    const resumed = new Chat(again, () => conversationId).resumeStream();
    await until(() => again.messages.some(({ parts }) => parts.length > 1), 'the first half, once more');
    model.say('wer.');
    model.end();
    await resumed;
    expect(again.error).toBeUndefined();
    expect(again.messages).toMatchObject([
      {
        role: 'assistant',
        metadata: { conversationId, model: 'chat' },
        parts: [{ type: 'step-start' }, { type: 'text', text: 'Half an answer.', state: 'done' }],
      },
    ]);
    expect((await messagesOf(conversationId)).find(({ id }) => id === again.messages[0]?.id)).toMatchObject({
      status: 'complete',
      parts: [{ type: 'text', text: 'Half an answer.' }],
    });
  });
});

describe('an answer under way', () => {
  it('goes on behind any event that was heard, while it runs and when it is finished', async () => {
    const call = spoken(gateway.upstream);
    const first = await reading(await ask({ stream: true }));
    const model = await call(0);
    model.say('One ', 'two ');
    const half = await first.readUntil('two ');
    await first.leave();
    const id = conversationIn(half);
    const from = async (after: string) =>
      follow(`${gateway.platform.url}${path}/${id}/stream?after=${after}`, ADMIN_KEY);
    const following = await Promise.all(idsIn(half).map(from));
    model.say('three.');
    model.end();
    const texts = async (followed: readonly { heard: readonly string[]; ended: Promise<unknown> }[]) => {
      await Promise.all(followed.map(({ ended }) => ended));
      return followed.map(({ heard }) => textIn(heard.join('')));
    };
    const expected = idsIn(half).map((_, index) =>
      'One two three.'.slice(
        textIn(
          half
            .split(/(?<=\n\n)/)
            .slice(0, index + 1)
            .join(''),
        ).length,
      ),
    );
    expect(await texts(following)).toEqual(expected);
    expect(await texts(await Promise.all(idsIn(half).map(from)))).toEqual(expected);
  });

  it.each([true, false])('is in the list of messages with what was said until now (stream: %s)', async (stream) => {
    const call = spoken(gateway.upstream);
    const asked = ask({ stream });
    const model = await call(0);
    model.say('Half an ');
    let id = '';
    await until(async () => {
      // Its own conversation is the first of the list once a view shows it.
      id = (await gateway.platform.call<{ items: readonly { id: string }[] }>(path)).body.items[0]?.id ?? '';
      return (await messagesOf(id)).some(({ parts: [said] }) => said?.text === 'Half an ');
    }, 'what was said');
    const answer = (await messagesOf(id)).find(({ status }) => status === 'streaming');
    expect((await gateway.platform.call<Message>(`${path}/${id}/messages/${answer?.id}`)).body).toMatchObject({
      status: 'streaming',
      parts: [{ type: 'text', text: 'Half an ' }],
    });
    model.say('answer.');
    model.end();
    await (await asked).text();
    expect((await messagesOf(id))[0]).toMatchObject({ status: 'complete', parts: [{ text: 'Half an answer.' }] });
  });

  it('keeps its branch to itself, for two tabs too; another branch runs beside it, and each is followed and stopped by its id', async () => {
    const call = spoken(gateway.upstream);
    const first = await reading(await ask({ stream: true }));
    (await call(0)).say('One');
    const heard = await first.readUntil('One');
    const conversationId = conversationIn(heard);
    const one = messageIn(heard);
    for (const parentId of [undefined, one])
      expect(await (await ask({ conversationId, parentId, stream: true })).json()).toMatchObject({
        status: 409,
        code: 'turn_in_progress',
      });
    (await call(0)).end();
    await first.readUntil('[DONE]');
    const tabs = await Promise.all([1, 2].map(() => ask({ conversationId, stream: true })));
    expect(tabs.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const second = await reading(tabs.find(({ status }) => status === 200) as Response);
    (await call(1)).say('Two');
    const two = messageIn(await second.readUntil('Two'));
    const beside = await reading(await ask({ conversationId, parentId: one, stream: true }));
    (await call(2)).say('Three');
    const three = messageIn(await beside.readUntil('Three'));
    const streamed = async (query: string) => {
      const followed = await reading(
        await fetch(`${gateway.platform.url}${path}/${conversationId}/stream${query}`, {
          headers: { 'x-api-key': ADMIN_KEY },
        }),
      );
      const said = messageIn(await followed.readUntil('"delta"'));
      await followed.leave();
      return said;
    };
    expect([await streamed(''), await streamed(`?messageId=${two}`), await streamed(`?messageId=${three}`)]).toEqual([
      three,
      two,
      three,
    ]);
    const stop = async (query: string) =>
      (await gateway.platform.call(`${path}/${conversationId}/stop${query}`, { method: 'POST' })).body;
    expect(await stop(`?messageId=${two}`)).toEqual({ stopped: true });
    expect(await second.readUntil('[DONE]')).toContain('"abort"');
    expect(await stop(`?messageId=${two}`)).toEqual({ stopped: false });
    (await call(2)).end();
    expect(await beside.readUntil('[DONE]')).toContain('"finish"');
    expect(await stop('')).toEqual({ stopped: false });
    const kept = await messagesOf(conversationId);
    expect([one, two, three].map((id) => kept.find((message) => message.id === id))).toMatchObject([
      { status: 'complete', parts: [{ text: 'One' }] },
      { status: 'stopped', parts: [{ text: 'Two' }] },
      { status: 'complete', parts: [{ text: 'Three' }] },
    ]);
  });

  it('ends for its reader when its conversation is deleted meanwhile, and is not recorded', async () => {
    const call = spoken(gateway.upstream);
    const first = await reading(await ask({ stream: true }));
    const model = await call(0);
    model.say('Gone');
    const id = conversationIn(await first.readUntil('Gone'));
    expect((await gateway.platform.call(`${path}/${id}`, { method: 'DELETE' })).status).toBe(204);
    await until(() => gateway.upstream.open === 0, 'the end of the call');
    expect(await first.readUntil('[DONE]')).toContain('"errorText":"not_found"');
    expect((await gateway.platform.call(`${path}/${id}/messages`)).status).toBe(404);
    expect((await gateway.platform.call(`${path}/${id}/stream`)).status).toBe(404);
  });

  it('has nothing to resume where no answer is under way: 204, and 404 for others', async () => {
    gateway.upstream.behaviour = behaves;
    const turn = await gateway.platform.call<{ conversationId: string }>(path, {
      method: 'POST',
      body: { message: 'Hello?' },
    });
    const stream = `${path}/${turn.body.conversationId}/stream`;
    const none = await gateway.platform.call(stream);
    expect([none.status, none.text]).toEqual([204, '']);
    const transport = new DefaultChatTransport({
      headers: { 'x-api-key': ADMIN_KEY },
      prepareReconnectToStreamRequest: () => ({ api: `${gateway.platform.url}${stream}` }),
    });
    expect(await transport.reconnectToStream({ chatId: turn.body.conversationId })).toBeNull();
    const { key } = await gateway.platform.newCaller({ role: 'admin' });
    expect((await gateway.platform.call(stream, { key })).status).toBe(404);
  });

  it('is unknown to others, by whatever id', async () => {
    const call = spoken(gateway.upstream);
    const first = await reading(await ask({ stream: true }));
    const model = await call(0);
    model.say('Mine');
    const heard = await first.readUntil('Mine');
    const id = conversationIn(heard);
    const { key } = await gateway.platform.newCaller({ role: 'admin' });
    for (const rest of ['stream', `stream?messageId=${messageIn(heard)}`, `stream?after=${idsIn(heard)[0]}`])
      expect((await gateway.platform.call(`${path}/${id}/${rest}`, { key })).status).toBe(404);
    expect((await gateway.platform.call(`${path}/${id}/stop`, { key, method: 'POST' })).status).toBe(404);
    const other = await reading(await ask({ stream: true }));
    (await call(1)).say('Other');
    const otherId = conversationIn(await other.readUntil('Other'));
    expect((await gateway.platform.call(`${path}/${otherId}/stream?messageId=${messageIn(heard)}`)).status).toBe(404);
    expect(
      (await gateway.platform.call(`${path}/${otherId}/stop?messageId=${messageIn(heard)}`, { method: 'POST' })).body,
    ).toEqual({ stopped: false });
    for (const each of [model, await call(1)]) each.end();
    await Promise.all([first.readUntil('[DONE]'), other.readUntil('[DONE]')]);
  });
});
