import { safeValidateUIMessages } from 'ai';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import {
  aDayLater,
  at,
  bytes,
  PNG,
  questionWith,
  read,
  shown,
  statuses,
  upload,
  uploaded,
  withFile,
} from './attachments-world';
import {
  conversationPath,
  type Message,
  messagesOf,
  platform,
  remove,
  says,
  send,
  UNKNOWN,
  upstream,
  withConversations,
} from './conversations-world';
import { ADMIN_KEY } from './harness';

const NO_AGENT = '01990000-0000-7000-8000-000000000002';

withConversations();
beforeEach(() => {
  upstream.behaviour = says('Yes.');
});
afterEach(() => void jest.restoreAllMocks());

describe('an attached file', () => {
  it('comes back byte for byte, under its own type, as nothing that runs', async () => {
    const file = await uploaded(PNG, 'Übersicht (1).png');
    const { status, headers, body } = await bytes(file.id);
    expect([status, body.equals(PNG)]).toEqual([200, true]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-disposition': "attachment; filename*=UTF-8''%C3%9Cbersicht%20%281%29.png",
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
  });

  it('is text where its bytes are, whatever it was called', async () => {
    const page = '<script>alert(1)</script>';
    const file = await uploaded(page, 'page.html', { mediaType: 'text/html' });
    const answer = await read(file.id);
    expect([answer.text, answer.headers['content-type']]).toEqual([page, 'text/plain; charset=utf-8']);
  });

  it('comes back as long as a message names it, and can be named as long; without one it is gone after a day', async () => {
    const [named, unnamed] = [await uploaded('Named.', 'a.txt'), await uploaded('Unnamed.', 'b.txt')];
    const { conversationId, messageId } = await questionWith(named);
    expect([await statuses(named.id), await statuses(unnamed.id)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    aDayLater();
    expect((await shown(named.id)).body).toEqual(named);
    expect((await read(named.id)).text).toBe('Named.');
    expect(await statuses(unnamed.id)).toEqual([404, 404]);
    expect((await send({ message: withFile({ fileId: unnamed.id }) })).status).toBe(404);
    // A question is asked otherwise: a branch beside it, with the same file.
    const edited = await send({ conversationId, parentId: null, message: withFile({ fileId: named.id }, 'And now?') });
    expect(edited.status).toBe(200);
    expect((await remove(conversationId, messageId)).status).toBe(204);
    expect(await statuses(named.id)).toEqual([200, 200]);
    const last = (await messagesOf(conversationId)).find(({ role }) => role === 'user')?.id as string;
    const took = ownTime();
    expect((await remove(conversationId, last)).status).toBe(204);
    expect(await statuses(named.id)).toEqual([404, 404]);
    expect(took()).toBeLessThan(10_000);
  });

  it.each<[string, boolean]>([
    ['before it expires', false],
    ['after that', true],
  ])('is gone within ten seconds with its conversation, %s', async (_, expired) => {
    const file = await uploaded('Gone.', 'a.txt');
    const { conversationId } = await questionWith(file);
    if (expired) aDayLater();
    expect(await statuses(file.id)).toEqual([200, 200]);
    const took = ownTime();
    expect((await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' })).status).toBe(204);
    await until(async () => (await shown(file.id)).status === 404, 'the file to be gone');
    expect((await read(file.id)).status).toBe(404);
    expect(took()).toBeLessThan(10_000);
  });

  it('is unknown to everybody else, alike, before it expires and afterwards', async () => {
    const post = async (path: string, body: object) =>
      (await platform.call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body })).body.id;
    const spaceId = await post('/spaces', { name: 'Files', slug: 'files' });
    const [agent, other] = [
      await post('/agents', { spaceId, name: 'Shared', knowledgeEnabled: false }),
      await post('/agents', { spaceId, name: 'Other', knowledgeEnabled: false }),
    ];
    const member = await platform.newCaller();
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${member.userId}`, {
      method: 'PUT',
      body: { role: 'viewer' },
    });
    const ownKey = async (given: object) =>
      (
        await platform.call<{ secret: string }>('/api/v1/core/api-keys', {
          method: 'POST',
          body: { name: 'other', permissions: ['llm'], ...given },
        })
      ).body.secret;
    const [elsewhere, noLlm, same] = [
      await ownKey({ agentIds: [other] }),
      await ownKey({ allAgents: true, permissions: ['agents:read'] }),
      await ownKey({ agentIds: [agent] }),
    ];
    const stranger = await platform.newCaller({ role: 'admin' });
    const { id } = await uploaded('Mine.', 'mine.txt', { agent });
    const asked = await platform.call(`/api/v1/core/llm/${agent}/conversation`, {
      method: 'POST',
      body: { message: withFile({ fileId: id }) },
    });
    expect(asked.status).toBe(200);
    const told = async (fileId: string, in_: string, key: string | null) => {
      const headers = { 'x-request-id': 'same' };
      const answers = [
        await platform.call(at(fileId, in_), { headers, key }),
        await platform.call(`${at(fileId, in_)}/content`, { headers, key }),
      ];
      return [answers.map(({ status }) => status), answers.map(({ text }) => text.replaceAll(fileId, 'ID'))];
    };
    for (const expired of [false, true]) {
      if (expired) aDayLater();
      expect((await told(id, agent, ADMIN_KEY))[0]).toEqual([200, 200]);
      expect((await told(id, agent, same))[0]).toEqual([200, 200]);
      for (const [in_, key, status] of [
        [agent, member.key, 404],
        [other, ADMIN_KEY, 404],
        [other, member.key, 404],
        [agent, stranger.key, 404],
        [NO_AGENT, ADMIN_KEY, 404],
        [agent, elsewhere, 403],
        [other, elsewhere, 404],
        [agent, noLlm, 403],
        [agent, null, 401],
      ] as const) {
        const answer = await told(id, in_, key);
        expect(answer[0]).toEqual([status, status]);
        expect(answer).toEqual(await told(UNKNOWN, in_, key));
      }
    }
    // Whoever is in the Space no more, or whose Agent is gone, has no file there.
    const member2 = (await upload('Theirs.', 'theirs.txt', { agent, key: member.key })).body.id;
    expect((await told(member2, agent, member.key))[0]).toEqual([200, 200]);
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${member.userId}`, { method: 'DELETE' });
    expect((await told(member2, agent, member.key))[0]).toEqual([404, 404]);
    await platform.call(`/api/v1/core/agents/${agent}`, { method: 'DELETE' });
    expect((await told(id, agent, ADMIN_KEY))[0]).toEqual([404, 404]);
  });

  it.each<[string, (ids: { userId: string; spaceId: string }) => string, number]>([
    ['Space', ({ spaceId }) => `/spaces/${spaceId}`, 404],
    ['user', ({ userId }) => `/users/${userId}`, 401],
  ])('is gone with its %s', async (_, path, status) => {
    const { userId, key } = await platform.newCaller();
    const made = async (what: string, body: object) =>
      (await platform.call<{ id: string }>(`/api/v1/core${what}`, { method: 'POST', body, key })).body.id;
    const spaceId = await made('/spaces', { name: 'Theirs' });
    const agent = await made('/agents', { spaceId, name: 'Theirs', knowledgeEnabled: false });
    const { id } = await uploaded('Theirs.', 'a.txt', { agent, key });
    const conversation = `/llm/${agent}/conversation`;
    await made(conversation, { message: withFile({ fileId: id }) });
    aDayLater();
    const told = async () => (await platform.call(`${at(id, agent)}/content`, { key })).status;
    expect(await told()).toBe(200);
    const deleted = await platform.call(`/api/v1/core${path({ userId, spaceId })}`, { method: 'DELETE' });
    expect(deleted.status).toBeLessThan(300);
    await until(async () => (await told()) === status, 'the file to be gone');
  });

  it('is in the history that a page of the AI SDK begins with, which asks with its parts again', async () => {
    const file = await uploaded(PNG, 'dot.png');
    const { conversationId, messageId } = await questionWith(file);
    const { items } = (
      await platform.call<{ items: readonly Message[] }>(conversationPath(`/${conversationId}/messages`))
    ).body;
    const checked = await safeValidateUIMessages({ messages: items.toReversed() });
    expect(checked).toMatchObject({ success: true });
    const [question] = checked.success ? checked.data : [];
    const [, part] = question?.parts ?? [];
    expect(part).toMatchObject({ type: 'file', mediaType: 'image/png', filename: 'dot.png' });
    const { url } = part as { readonly url: string };
    const response = await fetch(platform.url + url, { headers: { 'x-api-key': ADMIN_KEY } });
    expect(Buffer.from(await response.arrayBuffer()).equals(PNG)).toBe(true);
    aDayLater();
    // What the SDK keeps of the parts, and all of them as they are shown.
    for (const parts of [question?.parts, items.at(-1)?.parts]) {
      const edited = await send({ conversationId, parentId: null, message: { parts } });
      expect([edited.status, edited.text]).toEqual([200, expect.any(String)]);
      const said = (await messagesOf(conversationId)).filter(({ role }) => role === 'user');
      expect(said.map(({ parts: shownParts }) => shownParts[1])).toEqual(said.map(() => items.at(-1)?.parts[1]));
    }
    const message = (await platform.call<Message>(conversationPath(`/${conversationId}/messages/${messageId}`))).body;
    expect(message.parts).toEqual(items.at(-1)?.parts);
  });

  it.each([
    ['of another site', (url: string) => ({ url: `https://example.com${url}` }), 400],
    ['of another path', (url: string) => ({ url: `${url}/../secret` }), 400],
    ['of another file than its id', (url: string) => ({ url, fileId: UNKNOWN }), 400],
    ['of an unknown file', (url: string) => ({ url: url.replace(/files\/[^/]+/, `files/${UNKNOWN}`) }), 404],
  ])('is named by its address, and not by one %s', async (_, given, status) => {
    const { id } = await uploaded('Words.', 'a.txt');
    const answer = await send({ message: withFile({ mediaType: 'text/plain', ...given(`${at(id)}/content`) }) });
    expect(answer.status).toBe(status);
  });

  it('is shown to a page by its session, and to no page of another origin', async () => {
    const file = await uploaded(PNG, 'dot.png');
    const origin = platform.url;
    const signedIn = await fetch(`${origin}/api/v1/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ apiKey: ADMIN_KEY }),
    });
    const cookie = String(signedIn.headers.get('set-cookie')).split(';')[0] as string;
    // As a browser asks for an image of a page.
    const own = await bytes(file.id, { cookie, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' });
    expect([own.status, own.body.equals(PNG)]).toEqual([200, true]);
    for (const site of ['cross-site', 'same-site'])
      expect((await bytes(file.id, { cookie, 'sec-fetch-site': site })).status).toBe(403);
  });
});
