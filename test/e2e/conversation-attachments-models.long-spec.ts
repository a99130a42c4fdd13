import { Buffer } from 'node:buffer';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AbstractChat, DefaultChatTransport, type UIMessage } from 'ai';
import { PlainChatState } from '../fixtures/chat-state';
import { pdfFile } from '../fixtures/files/pdf';
import { jpegOf, pngOf, webpOf } from '../fixtures/images';
import {
  chunk,
  completion,
  DONE,
  events,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
  usageChunk,
} from '../fixtures/upstream-double';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

/** Files of each kind, as models that see and models that do not are shown them, and as they count in what is shown of a conversation. */

const CORE = '/api/v1/core';
const CONTEXT_TOKENS = 3_000;
const folder = mkdtempSync(join(tmpdir(), 'attached-'));
let sees: UpstreamDouble;
let blind: UpstreamDouble;
let platform: TestPlatform;

const answers: UpstreamDouble['behaviour'] = (response, { body }) =>
  body['stream'] === true
    ? void events(
        response,
        chunk({ role: 'assistant', content: 'I see.' }, null, String(body['model'])),
        chunk({}, 'stop', String(body['model'])),
        usageChunk(),
        DONE,
      ).end()
    : json(response, 200, completion({ content: 'They showed pictures.' }, String(body['model'])));

beforeAll(async () => {
  [sees, blind] = await Promise.all([startUpstreamDouble(), startUpstreamDouble()]);
  const chat = { kind: 'chat', pricing: 'free' };
  writeFileSync(
    join(folder, 'models.json'),
    JSON.stringify({
      providers: {
        sees: { kind: 'openai', baseUrl: sees.baseUrl },
        blind: { kind: 'openai', baseUrl: blind.baseUrl },
      },
      models: [
        { ...chat, key: 'sees', provider: 'sees', tags: ['vision'], fallback: 'blind' },
        { ...chat, key: 'blind', provider: 'blind' },
      ],
    }),
  );
  platform = await startTestPlatform({
    listen: true,
    environment: {
      MODELS_FILE: join(folder, 'models.json'),
      CONVERSATION_CONTEXT_TOKENS: String(CONTEXT_TOKENS),
    },
  });
});
afterAll(async () => {
  await platform.stop();
  await Promise.all([sees.stop(), blind.stop()]);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  for (const upstream of [sees, blind]) {
    upstream.behaviour = answers;
    upstream.calls.length = 0;
  }
});

const agentWith = async (model: string): Promise<string> => {
  const body = { name: model, model, knowledgeEnabled: false };
  return (await platform.call<{ id: string }>(`${CORE}/agents`, { method: 'POST', body })).body.id;
};
const upload = async (agentId: string, body: Buffer, filename: string): Promise<string> => {
  const head = `--b\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const { status, text, ...answer } = await platform.call<{ id: string }>(`${CORE}/llm/${agentId}/files`, {
    method: 'POST',
    payload: Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n--b--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  if (status !== 201) throw new Error(text);
  return answer.body.id;
};
interface Answered {
  readonly conversationId: string;
  readonly message: { readonly id: string; readonly parts: readonly { readonly text?: string }[] };
}
const ask = async (agentId: string, file: object, more: object = {}): Promise<Answered> => {
  const parts = [
    { type: 'text', text: 'What is it?' },
    { type: 'file', ...file },
  ];
  const { status, body, text } = await platform.call<Answered>(`${CORE}/llm/${agentId}/conversation`, {
    method: 'POST',
    body: { message: { parts }, ...more },
  });
  if (status !== 200) throw new Error(text);
  return body;
};
/** The last question, as a provider was sent it: one text, or parts. */
const shownTo = (upstream: UpstreamDouble): unknown => {
  const asked = upstream.calls.findLast(({ body }) => body['stream'] === true)?.body;
  return (asked as { messages: { content: unknown }[] } | undefined)?.messages.at(-1)?.content;
};

const PDF = pdfFile([[{ text: 'The quarry of Umberholt closed in 1911.', y: 700 }]]);

describe('a file of a question', () => {
  it.each(['sees', 'blind'])('that is a PDF is shown as its text to a model that %s', async (model) => {
    const agentId = await agentWith(model);
    await ask(agentId, { fileId: await upload(agentId, PDF, 'quarry.pdf') });
    const shown = JSON.stringify(shownTo(model === 'sees' ? sees : blind));
    expect(shown).toContain('The quarry of Umberholt closed in 1911.');
    expect(shown).toContain('quarry.pdf');
    expect(shown).not.toContain(PDF.toString('base64'));
  });

  it.each([
    ['WebP', webpOf(640, 480), 'image/webp'],
    ['JPEG', jpegOf(640, 480), 'image/jpeg'],
  ])('that is a %s is shown as it is to a model that sees', async (_, image, mediaType) => {
    const agentId = await agentWith('sees');
    await ask(agentId, { fileId: await upload(agentId, image, 'picture') });
    expect(shownTo(sees)).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: `data:${mediaType};base64,${image.toString('base64')}` } },
    ]);
  });

  it('is a note that says so where a fallback answers that sees nothing, with what can be read in it', async () => {
    sees.behaviour = (response) => json(response, 503, { error: { message: 'overloaded' } });
    const agentId = await agentWith('sees');
    await ask(agentId, { fileId: await upload(agentId, webpOf(640, 480), 'picture.webp') });
    expect(shownTo(sees)).toContainEqual(expect.objectContaining({ type: 'image_url' }));
    expect(shownTo(blind)).toBe(
      'What is it?\n\n[Attached image: "picture.webp"]\n[You cannot see this image. If the answer depends on it, say that you cannot see images.]',
    );
  });
});

describe('images', () => {
  const many = async (model: string) => {
    const agentId = await agentWith(model);
    const fileId = await upload(agentId, pngOf(1_024, 1_024), 'large.png');
    let conversation = {};
    for (let count = 0; count < 5; count += 1) {
      const { conversationId } = await ask(agentId, { fileId }, conversation);
      conversation = { conversationId };
    }
    const { conversationId } = conversation as { conversationId: string };
    const { body } = await platform.call<{ items: { tokensBefore: number; tokensAfter: number }[] }>(
      `${CORE}/llm/${agentId}/conversation/${conversationId}/checkpoints`,
    );
    return body.items;
  };

  it('count in what is shown of a conversation: what came first is summarised', async () => {
    const [checkpoint, ...others] = await many('sees');
    expect(others).toEqual([]);
    // Four of 765 tokens, with the words beside them, are too many; one stays.
    expect(checkpoint?.tokensBefore).toBeGreaterThan(CONTEXT_TOKENS);
    expect(checkpoint?.tokensBefore).toBeLessThan(3_500);
    expect(checkpoint?.tokensAfter).toBeGreaterThan(765);
    expect(checkpoint?.tokensAfter).toBeLessThan(1_100);
    const summarised = sees.calls.find(({ body }) => JSON.stringify(body).includes('Summarise a conversation between'));
    expect(JSON.stringify(summarised?.body)).toContain('[Attached image: ');
    expect(JSON.stringify(summarised?.body)).not.toContain('image_url');
  });

  it('count as their notes for a model that sees none', async () => {
    expect(await many('blind')).toEqual([]);
  });
});

describe('the AI SDK', () => {
  class Chat extends AbstractChat<UIMessage> {}

  it('sends files in its own message format, and reads the streamed answer', async () => {
    const agentId = await agentWith('sees');
    const state = new PlainChatState();
    const chat = new Chat({
      state,
      transport: new DefaultChatTransport({
        api: `${platform.url}${CORE}/llm/${agentId}/conversation`,
        headers: { 'x-api-key': ADMIN_KEY },
        prepareSendMessagesRequest: ({ messages }) => ({
          headers: { 'x-api-key': ADMIN_KEY },
          body: { message: { role: 'user', parts: messages.at(-1)?.parts }, stream: true },
        }),
      }),
    });
    const url = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`;
    const [image, words] = [webpOf(640, 480), Buffer.from('Plumbago grows on walls.')];
    await chat.sendMessage({
      text: 'What is it?',
      files: [
        { type: 'file', mediaType: 'image/webp', filename: 'wall.webp', url: url('image/webp', image) },
        { type: 'file', mediaType: 'text/plain', filename: 'wall.txt', url: url('text/plain', words) },
        { type: 'file', mediaType: 'application/pdf', filename: 'quarry.pdf', url: url('application/pdf', PDF) },
      ],
    });
    expect(state.error).toBeUndefined();
    expect(state.messages.at(-1)).toMatchObject({
      role: 'assistant',
      parts: [{ type: 'step-start' }, { type: 'text', text: 'I see.', state: 'done' }],
    });
    const shown = shownTo(sees) as readonly object[];
    expect(shown).toContainEqual({ type: 'image_url', image_url: { url: url('image/webp', image) } });
    expect(JSON.stringify(shown)).toContain('Plumbago grows on walls.');
    expect(JSON.stringify(shown)).toContain('Umberholt');
    const { conversationId } = (state.messages.at(-1) as UIMessage).metadata as { conversationId: string };
    const { body } = await platform.call<{ items: { role: string; parts: { type: string; mediaType?: string }[] }[] }>(
      `${CORE}/llm/${agentId}/conversation/${conversationId}/messages`,
    );
    const question = body.items.find(({ role }) => role === 'user');
    expect(question?.parts.map(({ type, mediaType }) => mediaType ?? type)).toEqual(
      expect.arrayContaining(['text', 'image/webp', 'text/plain', 'application/pdf']),
    );
  });
});
