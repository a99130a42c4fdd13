import { AbstractChat, DefaultChatTransport, safeValidateUIMessages, type UIMessage } from 'ai';
import { PlainChatState } from '../fixtures/chat-state';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { startTestGateway, type TestGateway } from './gateway';

/** A page of the product that talks to an Agent by its session, with the AI SDK: no API key is in it. */

let gateway: TestGateway;
let path: string;
let keyId: string;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  const agent = await gateway.platform.call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Guide', model: 'chat' },
  });
  path = `/api/v1/core/llm/${agent.body.id}/conversation`;
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  const made = await gateway.platform.call<{ id: string; secret: string }>('/api/v1/core/api-keys', {
    method: 'POST',
    body: { name: 'page', permissions: ['llm'], allAgents: true },
  });
  ({ id: keyId, secret: key } = made.body);
});

/** A browser that signed in: what it sends with each request of a page of this origin. */
const signIn = async (): Promise<{ readonly cookie: string; readonly origin: string }> => {
  const origin = gateway.platform.url;
  const response = await fetch(`${origin}/api/v1/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey: key }),
  });
  expect(response.status).toBe(201);
  return { cookie: String(response.headers.get('set-cookie')).split(';')[0] as string, origin };
};
type Browser = Awaited<ReturnType<typeof signIn>>;

const by = async (headers: Browser, at: string, method = 'GET', body?: object) => {
  const response = await fetch(`${gateway.platform.url}${path}${at}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
};
interface Message extends UIMessage {
  readonly parentId: string | null;
  readonly channel: string;
  readonly status: string;
}
const messagesOf = async (browser: Browser, id: string) => {
  const { items } = (await by(browser, `/${id}/messages`)).body as { items: readonly Message[] };
  return items.toReversed();
};

const conversationIn = ({ messages }: PlainChatState): string | undefined =>
  messages.map(({ metadata }) => (metadata as { conversationId?: string } | undefined)?.conversationId).find(Boolean);

/** `useChat` without its page: the first message begins a conversation, later ones go on with it. */
class Chat extends AbstractChat<UIMessage> {
  constructor(
    readonly shown: PlainChatState,
    headers: Browser,
    { known, ...begins }: { readonly known?: string; readonly kind?: 'incognito' } = {},
  ) {
    const id = () => conversationIn(shown) ?? known;
    const api = `${gateway.platform.url}${path}`;
    super({
      state: shown,
      transport: new DefaultChatTransport({
        api,
        headers: { ...headers },
        prepareSendMessagesRequest: ({ messages, trigger, messageId }) =>
          trigger === 'regenerate-message'
            ? { headers, api: `${api}/${id()}/messages/${messageId}/regenerate`, body: { stream: true } }
            : {
                headers,
                body: {
                  ...begins,
                  conversationId: id(),
                  message: { parts: messages.at(-1)?.parts },
                  parentId: messages.slice(0, -1).findLast(({ role }) => role === 'assistant')?.id ?? null,
                  stream: true,
                },
              },
        prepareReconnectToStreamRequest: () => ({ headers, api: `${api}/${id()}/stream` }),
      }),
    });
  }
}

const says = (text: string): void => {
  gateway.upstream.behaviour = (response) =>
    void events(response, chunk({ role: 'assistant', content: text }), chunk({}, 'stop'), usageChunk(), DONE).end();
};
/** A model that says the first half of an answer, and the second when told to. */
const halves = (first: string, second: string): (() => void) => {
  let goOn = (): void => undefined;
  gateway.upstream.behaviour = (response) => {
    events(response, chunk({ role: 'assistant', content: first }));
    goOn = () => void events(response, chunk({ content: second }), chunk({}, 'stop'), usageChunk(), DONE).end();
  };
  return () => goOn();
};
const textOf = (message: UIMessage | undefined): string | undefined =>
  message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
const half = (state: PlainChatState, text: string) =>
  until(() => textOf(state.messages.at(-1)) === text, 'the first half');

it('is asked, goes on, and is asked for another answer; a page that is opened later shows the same', async () => {
  const browser = await signIn();
  const state = new PlainChatState();
  const chat = new Chat(state, browser);
  says('Because.');
  await chat.sendMessage({ text: 'Why?' });
  says('So.');
  await chat.sendMessage({ text: 'And then?' });
  says('Otherwise.');
  await chat.regenerate({ messageId: state.messages.at(-1)?.id as string });
  expect([state.error, state.status]).toEqual([undefined, 'ready']);
  expect(state.messages.map(textOf)).toEqual(['Why?', 'Because.', 'And then?', 'Otherwise.']);
  const id = conversationIn(state) as string;
  const kept = await messagesOf(browser, id);
  expect(kept.map(textOf)).toEqual(['Why?', 'Because.', 'And then?', 'So.', 'Otherwise.']);
  expect(new Set(kept.map(({ channel, status }) => `${channel} ${status}`))).toEqual(new Set(['web complete']));
  const branch = kept.filter((message) => textOf(message) !== 'So.');
  expect(branch.at(-1)?.id).toBe(state.messages.at(-1)?.id);
  // A page begins with what is kept.
  expect(await safeValidateUIMessages({ messages: branch })).toMatchObject({ success: true });
  const later = new PlainChatState();
  later.messages = branch;
  says('Well.');
  await new Chat(later, browser, { known: id }).sendMessage({ text: 'Really?' });
  expect([later.error, textOf(later.messages.at(-1))]).toEqual([undefined, 'Well.']);
  expect((await messagesOf(browser, id)).at(-2)?.parentId).toBe(branch.at(-1)?.id);
  expect((await by(browser, `/${id}`, 'PUT', { title: 'Reasons' })).body).toMatchObject({ title: 'Reasons' });
  expect((await by(browser, `/${id}`, 'DELETE')).status).toBe(204);
  expect((await by(browser, `/${id}/messages`)).status).toBe(404);
});

it('asks questions of before otherwise, with their files: branches beside them', async () => {
  const browser = await signIn();
  const state = new PlainChatState();
  const chat = new Chat(state, browser);
  const url = `data:text/plain;base64,${Buffer.from('Nine.').toString('base64')}`;
  says('Nine.');
  const files = [{ type: 'file' as const, mediaType: 'text/plain', filename: 'hours.txt', url }];
  await chat.sendMessage({ text: 'When?', files });
  says('So.');
  await chat.sendMessage({ text: 'And then?' });
  const id = conversationIn(state) as string;
  const answer = state.messages[1]?.id;
  says('Otherwise.');
  await chat.sendMessage({ text: 'And before?', messageId: state.messages[2]?.id as string });
  expect([state.error, state.messages.map(textOf)]).toEqual([
    undefined,
    ['When?', 'Nine.', 'And before?', 'Otherwise.'],
  ]);
  // A page that is opened later, on the first question.
  const later = new PlainChatState();
  later.messages = (await messagesOf(browser, id)).slice(0, 2);
  says('At nine.');
  const { parts, id: first } = later.messages[0] as UIMessage;
  const again = parts.map((part) => (part.type === 'text' ? { ...part, text: 'When exactly?' } : part));
  await new Chat(later, browser, { known: id }).sendMessage({ parts: again, messageId: first });
  expect([later.error, later.messages.map(textOf)]).toEqual([undefined, ['When exactly?', 'At nine.']]);
  expect(JSON.stringify(gateway.upstream.calls.at(-1)?.body['messages'])).toContain('hours.txt');
  // A page that shows the first branch of several goes on there.
  const shown = new PlainChatState();
  shown.messages = (await messagesOf(browser, id)).slice(0, 4);
  says('Closed.');
  await new Chat(shown, browser, { known: id }).sendMessage({ text: 'And at last?' });
  const kept = await messagesOf(browser, id);
  const parentOf = (text: string) => kept.find((message) => textOf(message) === text)?.parentId;
  expect(['When?', 'When exactly?', 'And then?', 'And before?'].map(parentOf)).toEqual([null, null, answer, answer]);
  expect(parentOf('And at last?')).toBe(shown.messages[3]?.id);
  expect(await safeValidateUIMessages({ messages: kept })).toMatchObject({ success: true });
});

it('talks in an incognito conversation as in others, until that is deleted', async () => {
  const browser = await signIn();
  const state = new PlainChatState();
  const chat = new Chat(state, browser, { kind: 'incognito' });
  says('Because.');
  await chat.sendMessage({ text: 'Why?' });
  says('So.');
  await chat.sendMessage({ text: 'And then?' });
  says('Otherwise.');
  await chat.regenerate({ messageId: state.messages.at(-1)?.id as string });
  expect([state.error, state.messages.map(textOf)]).toEqual([
    undefined,
    ['Why?', 'Because.', 'And then?', 'Otherwise.'],
  ]);
  const id = conversationIn(state) as string;
  const kept = await messagesOf(browser, id);
  expect(kept.map(textOf)).toEqual(['Why?', 'Because.', 'And then?', 'So.', 'Otherwise.']);
  expect(await safeValidateUIMessages({ messages: kept })).toMatchObject({ success: true });
  expect((await by(browser, `/${id}`, 'DELETE')).status).toBe(204);
  await chat.sendMessage({ text: 'Still there?' });
  expect([state.status, String(state.error)]).toEqual(['error', expect.stringContaining('not_found')]);
});

it('is neither asked, stopped, changed nor deleted by a page of another origin, which has its cookie sent', async () => {
  const browser = await signIn();
  const state = new PlainChatState();
  const goOn = halves('Half an ', 'answer.');
  const sent = new Chat(state, browser).sendMessage({ text: 'Why?' });
  await half(state, 'Half an ');
  const [id, messageId] = [conversationIn(state) as string, state.messages.at(-1)?.id as string];
  const foreign = { ...browser, origin: 'https://evil.example' };
  for (const [method, at, body] of [
    ['POST', '', { conversationId: id, message: 'Tell me all.' }],
    ['POST', '', { message: 'Tell me all.', kind: 'incognito' }],
    ['POST', `/${id}/stop`, undefined],
    ['POST', `/${id}/compact`, undefined],
    ['POST', `/${id}/messages/${messageId}/regenerate`, {}],
    ['POST', `/${id}/messages/${messageId}/feedback`, { rating: 'down' }],
    ['POST', `/${id}/messages/${messageId}/tools/call`, { approved: true }],
    ['PUT', `/${id}`, { title: 'Mine' }],
    ['DELETE', `/${id}/messages/${messageId}`, undefined],
    ['DELETE', `/${id}`, undefined],
  ] as const)
    expect([method, at, await by(foreign, at, method, body)]).toMatchObject([
      method,
      at,
      { status: 403, body: { code: 'forbidden' } },
    ]);
  expect(gateway.upstream.calls.at(-1)?.body['messages']).toEqual([{ role: 'user', content: 'Why?' }]);
  goOn();
  await sent;
  expect((await messagesOf(browser, id)).map(textOf)).toEqual(['Why?', 'Half an answer.']);
});

it.each([
  ['its key is revoked', async () => gateway.platform.call(`/api/v1/core/api-keys/${keyId}`, { method: 'DELETE' })],
  [
    'it is signed out in another tab',
    async ({ cookie, origin }: Browser) =>
      fetch(`${origin}/api/v1/session`, { method: 'DELETE', headers: { cookie, origin } }),
  ],
])('hears no more in the middle of an answer once %s; who signs in again has it whole', async (_, end) => {
  const browser = await signIn();
  const state = new PlainChatState();
  const goOn = halves('Half an ', 'answer.');
  const sent = new Chat(state, browser).sendMessage({ text: 'Why?' });
  await half(state, 'Half an ');
  const id = conversationIn(state) as string;
  expect((await end(browser)).status).toBe(204);
  expect((await by(browser, `/${id}/messages`)).status).toBe(401);
  expect((await by(browser, '', 'POST', { conversationId: id, message: 'And?' })).status).toBe(401);
  await sent;
  expect([state.status, state.error?.message]).toEqual(['error', 'unauthenticated']);
  expect(textOf(state.messages.at(-1))).toBe('Half an ');
  const again = await gateway.platform.call<{ secret: string }>('/api/v1/core/api-keys', {
    method: 'POST',
    body: { name: 'page', permissions: ['llm'], allAgents: true },
  });
  key = again.body.secret;
  const resumed = new PlainChatState();
  const following = new Chat(resumed, await signIn(), { known: id }).resumeStream();
  await half(resumed, 'Half an ');
  goOn();
  await following;
  expect([resumed.error, textOf(resumed.messages.at(-1))]).toEqual([undefined, 'Half an answer.']);
});
