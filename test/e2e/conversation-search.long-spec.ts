import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import {
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
  upstream,
  withConversations,
} from './conversations-world';

withConversations();

interface Page {
  readonly items: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
}

/** Reads behind all that stands in the log by now. */
const page = async (q: string, rest = ''): Promise<Page> => {
  const head = (await platform.platform.host.stores.log.head()) ?? '';
  const answer = await platform.call<Page>(conversationPath(`?q=${encodeURIComponent(q)}${rest}`), {
    headers: { 'x-read-after': head },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const found = async (q: string, rest = ''): Promise<readonly string[]> =>
  (await page(q, rest)).items.map(({ id }) => id);

describe("the search in one's own messages", () => {
  it('finds words of questions and answers, in German and English, in other forms too', async () => {
    upstream.behaviour = says('Die Fähren legen um neun ab.');
    const german = await ask('Guten Tag.');
    upstream.behaviour = says('They were running towards the lighthouses.');
    const english = await ask('Hello.');
    upstream.behaviour = says('Yes.');
    await ask('Is there a Zanthoquill?', { conversationId: english.conversationId });
    expect(await found('Fähre')).toEqual([german.conversationId]);
    expect(await found('FAHREN')).toEqual([german.conversationId]);
    // A few words, none of which tells the language.
    upstream.behaviour = says('Neue Bücher.');
    const short = await ask('Was kommt?');
    expect(await found('Buch')).toEqual([short.conversationId]);
    expect(await found('lighthouse')).toEqual([english.conversationId]);
    expect(await found('zanthoquill')).toEqual([english.conversationId]);
    // All words in one message, not each in some.
    expect(await found('lighthouse zanthoquill')).toEqual([]);
    expect(await found('Yttermarsh')).toEqual([]);
  });

  it('finds messages on every branch, of private conversations too, and none of incognito ones', async () => {
    upstream.behaviour = says('No.');
    const { conversationId, message } = await ask('Where is Aldermoor?');
    await ask('Where is Brackenholt?', { conversationId, parentId: null });
    upstream.behaviour = says('In Corriegarth.');
    await send({}, { path: `/${conversationId}/messages/${message.id}/regenerate` });
    for (const word of ['Aldermoor', 'Brackenholt', 'Corriegarth']) expect(await found(word)).toEqual([conversationId]);
    const hidden = await ask('Where is Dunnottar?', { kind: 'private' });
    expect(await found('Dunnottar')).toEqual([hidden.conversationId]);
    await ask('Where is Eskdalemuir?', { kind: 'incognito' });
    expect(await found('Eskdalemuir')).toEqual([]);
    expect(onDisk('Eskdalemuir')).toEqual([]);
  });

  it('shows pages of what it finds, newest first, archived ones on request', async () => {
    upstream.behaviour = says('No.');
    const made: string[] = [];
    for (const number of [1, 2, 3]) made.push((await ask(`Hello, Farnborough ${number}.`)).conversationId);
    const [oldest, middle, newest] = made;
    const first = await page('Farnborough', '&limit=2');
    expect(first.items.map(({ id }) => id)).toEqual([newest, middle]);
    expect(await found('Farnborough', `&limit=2&cursor=${first.nextCursor ?? ''}`)).toEqual([oldest]);
    await platform.call(conversationPath(`/${middle ?? ''}`), { method: 'PUT', body: { archived: true } });
    expect(await found('Farnborough')).toEqual([newest, oldest]);
    expect(await found('Farnborough', '&archived=true')).toEqual([middle]);
  });

  it('is not for others', async () => {
    upstream.behaviour = says('No.');
    const { conversationId } = await ask('Where is Gleneagles?');
    expect(await found('Gleneagles')).toEqual([conversationId]);
    const stranger = await platform.newCaller();
    expect((await platform.call(conversationPath('?q=Gleneagles'), { key: stranger.key })).status).toBe(404);
    // Somebody else who talks to the same Agent.
    const space = await platform.call<{ id: string }>('/api/v1/core/spaces', {
      method: 'POST',
      body: { name: 'Shared' },
    });
    const spaceId = space.body.id;
    await platform.call(`/api/v1/core/spaces/${spaceId}/members/${stranger.userId}`, {
      method: 'PUT',
      body: { role: 'viewer' },
    });
    const shared = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { spaceId, name: 'Shared', knowledgeEnabled: false },
    });
    const path = `/api/v1/core/llm/${shared.body.id}/conversation`;
    const asked = (message: string, key?: string) =>
      platform.call<{ conversationId: string }>(path, {
        method: 'POST',
        body: { message },
        ...(key === undefined ? {} : { key }),
      });
    const mine = await asked('Where is Hawkshead?');
    const theirs = await asked('Where is Hawkshead, then?', stranger.key);
    const head = (await platform.platform.host.stores.log.head()) ?? '';
    const read = async (key?: string) =>
      (
        await platform.call<Page>(`${path}?q=Hawkshead`, {
          headers: { 'x-read-after': head },
          ...(key === undefined ? {} : { key }),
        })
      ).body.items.map(({ id }) => id);
    expect([await read(), await read(stranger.key)]).toEqual([
      [mine.body.conversationId],
      [theirs.body.conversationId],
    ]);
    const other = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Other' },
    });
    const ofOther = await platform.call<Page>(`/api/v1/core/llm/${other.body.id}/conversation?q=Gleneagles`);
    expect([ofOther.status, ofOther.body.items]).toEqual([200, []]);
  });

  it.each(['"', '*', 'a AND (', 'NEAR("x" "y")', 'c:*', '-', 'terms : x', '\u0130\ud83d\ude42'])(
    'takes %j as plain text',
    async (q) => expect(await found(`${q} Hartlepool`)).toEqual([]),
  );
});

describe('what was deleted', () => {
  it('is found no more, and stands in no file within ten seconds', async () => {
    upstream.behaviour = says('In Draskopheim.');
    const { conversationId } = await ask('Hello.');
    upstream.behaviour = says('No.');
    await ask('Where is Quillonby?', { conversationId });
    const question = (await messagesOf(conversationId)).find(({ parts }) =>
      parts.some(({ text }) => text?.includes('Quillonby') === true),
    ) as Message;
    expect([await found('Quillonby'), await found('Draskopheim')]).toEqual([[conversationId], [conversationId]]);
    const took = ownTime();
    expect((await remove(conversationId, question.id)).status).toBe(204);
    const after = await platform.call<Page>(conversationPath('?q=Quillonby'));
    expect(after.body.items).toEqual([]);
    await erased(`conversation-${conversationId}/${question.id}`);
    expect([onDisk('Quillonby', 'Draskopheim'), await found('Draskopheim')]).toEqual([
      ['Draskopheim'],
      [conversationId],
    ]);
    await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' });
    expect(await found('Draskopheim')).toEqual([]);
    await erased(`conversation-${conversationId}`);
    expect(took()).toBeLessThan(20_000);
    expect(onDisk('Draskopheim')).toEqual([]);
  });

  it('stays away when the view is built anew, and the rest is found while and after that', async () => {
    upstream.behaviour = says('In Inverallochy.');
    const { conversationId, message } = await ask('Where is Jarlshof?');
    upstream.behaviour = says('No.');
    const kept = await ask('Where is Kilchurn?');
    await remove(conversationId, message.id);
    const path = '/api/v1/operations/projections/searched-messages';
    const version = async () => (await platform.call<{ version: number }>(path)).body.version;
    const before = await version();
    expect((await platform.call(`${path}/rebuild`, { method: 'POST', body: { swap: true } })).status).toBe(202);
    await until(async () => {
      expect(await found('Kilchurn')).toEqual([kept.conversationId]);
      return (await version()) > before;
    }, 'the rebuild');
    expect(await found('Jarlshof')).toEqual([conversationId]);
    expect(await found('Inverallochy')).toEqual([]);
  });
});
