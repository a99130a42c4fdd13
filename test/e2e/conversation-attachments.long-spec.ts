import { Buffer } from 'node:buffer';
import { Policies } from '@app/projecting';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { PNG, upload, uploaded, withFile } from './attachments-world';
import {
  agentId,
  ask,
  conversationPath,
  erased,
  type Message,
  messagesOf,
  onDisk,
  platform,
  remove,
  says,
  send,
  UNKNOWN,
  upstream,
  withConversations,
} from './conversations-world';

const sent = (): string => JSON.stringify(upstream.calls.at(-1)?.body);
const questionIn = async (conversationId: string): Promise<Message & { parts: readonly Record<string, unknown>[] }> =>
  (await messagesOf(conversationId)).find(({ role }) => role === 'user') as never;

withConversations();
beforeEach(() => {
  upstream.behaviour = says('Yes.');
});

describe('an attached file', () => {
  it('is shown by its id, and as text to the model', async () => {
    const file = await uploaded('# Quorvanel\nIt opens at nine.', 'opening.md');
    expect(file).toMatchObject({ filename: 'opening.md', mediaType: 'text/markdown', sizeBytes: 29 });
    expect(Date.parse(file.expiresAt)).toBeGreaterThan(Date.now() + 23 * 60 * 60_000);
    expect((await platform.call(`/api/v1/core/llm/${agentId}/files/${file.id}`)).body).toEqual(file);
    const { conversationId } = (await send({ message: withFile({ fileId: file.id }) })).body;
    expect(sent()).toContain('It opens at nine.');
    expect(sent()).toContain('opening.md');
    expect((await questionIn(conversationId)).parts).toEqual([
      { type: 'text', text: 'What does it say?' },
      {
        type: 'file',
        fileId: file.id,
        filename: 'opening.md',
        mediaType: 'text/markdown',
        url: `/api/v1/core/llm/${agentId}/files/${file.id}/content`,
      },
    ]);
    // It stands in the history of the next question too.
    await ask('And then?', { conversationId });
    expect(sent()).toContain('It opens at nine.');
  });

  it('comes as a data URL too', async () => {
    const url = `data:text/plain;base64,${Buffer.from('Vellumbrick').toString('base64')}`;
    const { conversationId } = (await send({ message: withFile({ mediaType: 'text/plain', url, filename: 'a.txt' }) }))
      .body;
    expect(sent()).toContain('Vellumbrick');
    const [, part] = (await questionIn(conversationId)).parts;
    expect(part).toMatchObject({ type: 'file', filename: 'a.txt', mediaType: 'text/plain' });
    expect(part).not.toHaveProperty('text');
  });

  it.each([
    ['knows no type of it', '', 'application/octet-stream'],
    ['knows no type of it and says none', '', ''],
    ['says its type in capitals', 'Text/Markdown', 'text/markdown'],
  ])('comes from a page whose browser %s', async (_, mediaType, inUrl) => {
    const url = `data:${inUrl};base64,${Buffer.from('# Quillimere').toString('base64')}`;
    const asked = await send({ message: withFile({ mediaType, url, filename: 'notes.md' }) });
    expect([asked.status, asked.text]).toEqual([200, expect.any(String)]);
    expect(sent()).toContain('Quillimere');
    expect((await questionIn(asked.body.conversationId)).parts[1]).toMatchObject({ mediaType: 'text/markdown' });
  });

  it('is an image to models that see, and a note to others', async () => {
    const file = await uploaded(PNG, 'dot.png');
    const { conversationId, message } = (await send({ message: withFile({ fileId: file.id }) })).body;
    expect(sent()).toContain(JSON.stringify('[Attached image: "dot.png"]\n[You cannot see this image.').slice(1, -1));
    expect(sent()).not.toContain('image_url');
    await send({ model: 'other' }, { path: `/${conversationId}/messages/${message.id}/regenerate` });
    expect(sent()).toContain(`data:image/png;base64,${PNG.toString('base64')}`);
  });

  it.each([
    [PNG, 'a.txt', 'text/plain', 201],
    ['<svg/>', 'a.svg', 'image/svg+xml', 415],
    [Buffer.from([0x50, 0x4b, 3, 4, 0, 0]), 'a.txt', 'text/plain', 415],
    [Buffer.alloc(20 * 1024 ** 2 + 1, 'a'), 'a.txt', 'text/plain', 413],
  ])('is taken by its bytes: %#', async (body, name, type, status) =>
    expect((await upload(body, name, { mediaType: type })).status).toBe(status),
  );

  it('is unknown to others, alike', async () => {
    const post = async (path: string, body: object) =>
      (await platform.call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body })).body.id;
    const spaceId = await post('/spaces', { name: 'Shared', slug: 'shared' });
    const shared = await post('/agents', { spaceId, name: 'Shared', knowledgeEnabled: false });
    const { key, userId } = await platform.newCaller();
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${userId}`, {
      method: 'PUT',
      body: { role: 'editor' },
    });
    const mine = (await upload('Mine.', 'mine.txt', { agent: shared })).body.id;
    const ofOtherAgent = (await uploaded('Mine.', 'mine.txt')).id;
    const path = `/api/v1/core/llm/${shared}`;
    const told = async (fileId: string, by: { key?: string }) => {
      const headers = { 'x-request-id': 'same' };
      const asked = await platform.call(`${path}/conversation`, {
        method: 'POST',
        headers,
        ...by,
        body: { message: withFile({ fileId }) },
      });
      const read = await platform.call(`${path}/files/${fileId}`, { headers, ...by });
      return [asked.status, read.status, `${asked.text}${read.text}`.replaceAll(fileId, 'ID')];
    };
    const unknown = await told(UNKNOWN, { key });
    expect(unknown.slice(0, 2)).toEqual([404, 404]);
    expect(unknown[2]).toContain('message.parts[1].fileId');
    expect(await told(mine, { key })).toEqual(unknown);
    expect(await told(ofOtherAgent, {})).toEqual(unknown);
    expect((await told(mine, {})).slice(0, 2)).toEqual([200, 200]);
    // What is no file of a message is none by its id either, whoever may read it elsewhere.
    const text = { name: 'Steps', description: 'How to.', instructions: 'Secret steps.' };
    const skill = await post('/skills', { scope: 'agent', agentId: shared, ...text });
    const version = await platform.call<{ id: string }>(`/api/v1/core/skills/${skill}/versions/draft`);
    const document = { name: 'mine.md', content: 'Mine.', mimeType: 'text/markdown' };
    const documentId = await post(`/knowledge/${shared}/documents`, document);
    expect(version.status).toBe(200);
    for (const id of [skill, version.body.id, documentId]) expect(await told(id, {})).toEqual(unknown);
  });

  it('is erased within ten seconds with the last message that names it', async () => {
    const file = await uploaded('Thessolidare', 'secret.txt');
    const first = (await send({ message: withFile({ fileId: file.id }) })).body;
    const second = (await send({ message: withFile({ fileId: file.id }) })).body;
    const took = ownTime();
    const question = await questionIn(first.conversationId);
    expect((await remove(first.conversationId, question.id)).status).toBe(204);
    await erased(`conversation-${first.conversationId}/${question.id}`);
    expect((await platform.call(`/api/v1/core/llm/${agentId}/files/${file.id}`)).status).toBe(200);
    await platform.call(conversationPath(`/${second.conversationId}`), { method: 'DELETE' });
    await erased(`attachment-${file.id}`);
    expect(took()).toBeLessThan(10_000);
    expect(onDisk('Thessolidare')).toEqual([]);
    for (const asked of [file.id, UNKNOWN])
      expect((await send({ message: withFile({ fileId: asked }) })).body).toMatchObject({ code: 'not_found' });
  });

  it('stays where a question that names it is recorded while the last other message that does is deleted', async () => {
    const file = await uploaded(PNG, 'map.png');
    const first = (await send({ message: withFile({ fileId: file.id }) })).body;
    const { id } = await questionIn(first.conversationId);
    const { log } = platform.platform.host.stores;
    const append = log.append.bind(log);
    const { promise: deleted, resolve: go } = Promise.withResolvers<void>();
    const appended = jest.spyOn(log, 'append').mockImplementation(async (stream, events, ...rest) => {
      if (events.some(({ type }) => type === 'UserMessageAdded')) await deleted;
      return append(stream, events, ...rest);
    });
    const asked = send({ message: withFile({ fileId: file.id }) });
    await until(() => appended.mock.calls.length > 0, 'the question is about to be recorded');
    await remove(first.conversationId, id);
    await erased(`conversation-${first.conversationId}/${id}`);
    go();
    const { conversationId } = (await asked).body;
    appended.mockRestore();
    // Whoever deletes it looks again once the question stands.
    const head = (await log.head()) ?? '';
    const policies = () => platform.platform.app.get(Policies).status();
    await until(
      async () =>
        ((await policies()).find(({ name }) => name === 'delete-unnamed-attachments')?.position ?? '') >= head,
      'the policy to look again',
    );
    expect((await platform.call(`/api/v1/core/llm/${agentId}/files/${file.id}`)).status).toBe(200);
    await remove(conversationId, (await questionIn(conversationId)).id);
    await erased(`attachment-${file.id}`);
  });

  it('is not stored for an incognito question', async () => {
    const url = `data:text/plain;base64,${Buffer.from('Ombrafilde').toString('base64')}`;
    const answer = await send({ kind: 'incognito', message: withFile({ mediaType: 'text/plain', url }) });
    expect([answer.status, answer.body['code']]).toEqual([400, 'unsupported_parameter']);
    expect(onDisk('Ombrafilde')).toEqual([]);
  });

  it('comes with at most nine others', async () => {
    const parts = Array.from({ length: 11 }, () => ({ type: 'file', fileId: UNKNOWN }));
    expect((await send({ message: { parts } })).status).toBe(400);
  });
});
