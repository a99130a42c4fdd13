import { READ_STORE, type ReadStore } from '@app/read-store';
import { type Vault, VAULT } from '@app/vault';
import { wordsUnder } from '../fixtures/files-under';
import { ownTime } from '../fixtures/own-time';
import { verifyFolder } from '../fixtures/sealed-log';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

/** Words that stand in nothing but the content they are for. */
const WORDS = {
  space: 'Quillbranth',
  prompt: 'Vexolumir',
  agent: 'Draskopheim',
  instructions: 'Ombrelithic',
  window: 'Wexholmberg',
  tool: 'Tarnivault',
  document: 'Zanthoquill',
  passage: 'Yttermarsh',
  message: 'Kelvorindane',
  conversation: 'Pherrowick',
  user: 'Mirkwellian',
  mail: 'jossabrand',
} as const;
type Word = keyof typeof WORDS;

let platform: TestPlatform;
const core = (path: string): string => `/api/v1/core${path}`;
const post = async (path: string, body: object) => {
  const answer = await platform.call<{ id: string } & Record<string, unknown>>(core(path), { method: 'POST', body });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
};

/** Which of these words stand in any file under `DATA_DIR`, in any case. */
const onDisk = (words: readonly Word[]): readonly Word[] => {
  const found = wordsUnder(
    platform.dataDir,
    words.map((word) => WORDS[word]),
  );
  return words.filter((word) => found.includes(WORDS[word]));
};

interface Events {
  readonly items: readonly { readonly stream: string; readonly data: Readonly<Record<string, unknown>> }[];
}
const receiptsOf = async (type: string, stream: string) =>
  (await platform.call<Events>('/api/v1/audit/events?category=erasure&type=ContentErased&limit=100')).body.items.filter(
    ({ data }) => data['eventType'] === type && data['stream'] === stream,
  );

/** Deletes, and waits for the receipt; answers how long that took in milliseconds. */
const erase = async (path: string, type: string, stream: string): Promise<number> => {
  const took = ownTime();
  const answer = await platform.call(core(path), { method: 'DELETE' });
  expect([200, 204]).toContain(answer.status);
  await until(async () => (await receiptsOf(type, stream)).length > 0, `the receipt of ${stream}`);
  return took();
};

let ids: { space: string; prompt: string; agent: string; document: string; conversation: string; user: string };

beforeAll(async () => {
  platform = await startTestPlatform();
  const space = (await post('/spaces', { name: `${WORDS.space} Space`, description: `About ${WORDS.space}` })).id;
  const prompt = (await post(`/spaces/${space}/prompts`, { title: WORDS.prompt, text: `Say ${WORDS.prompt}.` })).id;
  const agent = (
    await post('/agents', {
      spaceId: space,
      name: WORDS.agent,
      description: `It is ${WORDS.agent}`,
      systemPrompt: `Mind ${WORDS.instructions}.`,
      knowledgeEnabled: true,
      public: { windowTitle: WORDS.window },
      tools: [{ id: 'finder', name: WORDS.tool, kind: 'knowledge', enabled: true, approval: 'never' }],
    })
  ).id;
  const document = (
    await post(`/knowledge/${agent}/documents`, {
      name: `${WORDS.document}.md`,
      content: `# Places\n\nThe ferry to ${WORDS.passage} leaves at nine.`,
      mimeType: 'text/markdown',
    })
  ).id;
  await until(
    async () =>
      (await platform.call<{ status: string }>(core(`/knowledge/${agent}/documents/${document}`))).body.status ===
      'Ready',
    'the document',
  );
  const turn = await post(`/llm/${agent}/conversation`, { message: `Tell me about ${WORDS.message} and the ferry.` });
  await post(`/llm/${agent}/conversation`, {
    message: `What of ${WORDS.conversation}?`,
    conversationId: turn['conversationId'],
  });
  const user = (await post('/users', { email: `${WORDS.mail}@example.com`, name: WORDS.user, role: 'member' })).id;
  ids = { space, prompt, agent, document, conversation: String(turn['conversationId']), user };
});
afterAll(() => platform.stop());

describe('what is deleted', () => {
  it('stands in the files until then: the search for it works', () => {
    expect(
      onDisk([
        'space',
        'prompt',
        'agent',
        'instructions',
        'window',
        'tool',
        'document',
        'passage',
        'message',
        'conversation',
        'user',
        'mail',
      ]),
    ).toEqual(Object.keys(WORDS));
  });

  it('is gone from every file within ten seconds, a conversation alone', async () => {
    expect(
      await erase(
        `/llm/${ids.agent}/conversation/${ids.conversation}`,
        'ConversationDeleted',
        `conversation-${ids.conversation}`,
      ),
    ).toBeLessThan(10_000);
    expect(onDisk(['message', 'conversation'])).toEqual([]);
  });

  it('is gone with its blobs, a document alone', async () => {
    expect(
      await erase(`/knowledge/${ids.agent}/documents/${ids.document}`, 'DocumentDeleted', `document-${ids.document}`),
    ).toBeLessThan(10_000);
    expect(onDisk(['document', 'passage'])).toEqual([]);
    const [receipt] = await receiptsOf('DocumentDeleted', `document-${ids.document}`);
    expect(receipt?.data).toMatchObject({
      things: [`document-${ids.document}`],
      // The file, its text, its chunks, and these with their vectors.
      blobs: 4,
      purged: ['views', 'search', 'decisions'],
    });
    expect(await platform.platform.host.stores.blobs.list(null, 10)).toEqual([]);
  });

  it('loses its keys and blobs also while the stores are purged of another deletion', async () => {
    const { app, host } = platform.platform;
    const documents = `/knowledge/${ids.agent}/documents`;
    const readable = async () => {
      const { id } = await post(documents, { name: 'a.md', content: 'Of the day.', mimeType: 'text/markdown' });
      const status = async () => (await platform.call<{ status: string }>(core(`${documents}/${id}`))).body.status;
      await until(async () => (await status()) === 'Ready', 'the document');
      return id;
    };
    const [first, second] = [await readable(), await readable()];
    const readStore = app.get<ReadStore>(READ_STORE, { strict: false });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const real = readStore.purge.bind(readStore);
    const purge = jest.spyOn(readStore, 'purge').mockImplementation(() => held.then(real));
    await platform.call(core(`${documents}/${first}`), { method: 'DELETE' });
    await until(() => purge.mock.calls.length > 0, 'the purge');
    await platform.call(core(`${documents}/${second}`), { method: 'DELETE' });
    const keys = () => app.get<Vault>(VAULT, { strict: false }).keys([`document-${second}`]);
    await until(async () => (await keys()).size === 0, 'the end of the key');
    await until(async () => (await host.stores.blobs.list(null, 10)).length === 0, 'the end of the blobs');
    const receipts = async () =>
      (await Promise.all([first, second].map((id) => receiptsOf('DocumentDeleted', `document-${id}`)))).flat().length;
    expect(await receipts()).toBe(0);
    release();
    await until(async () => (await receipts()) === 2, 'the receipts');
    purge.mockRestore();
  });

  it('is gone, a user with name and mail address', async () => {
    expect(await erase(`/users/${ids.user}`, 'UserDeleted', `user-${ids.user}`)).toBeLessThan(10_000);
    expect(onDisk(['user', 'mail'])).toEqual([]);
  });

  it('is gone with all that is in it, a Space', async () => {
    const took = ownTime();
    await erase(`/spaces/${ids.space}`, 'SpaceDeleted', `space-${ids.space}`);
    await until(
      async () =>
        (await receiptsOf('AgentDeleted', `agent-${ids.agent}`)).length > 0 &&
        (await receiptsOf('PromptDeleted', `prompt-${ids.prompt}`)).length > 0,
      'the receipts of the Space',
    );
    expect(took()).toBeLessThan(10_000);
    expect(onDisk(['space', 'prompt', 'agent', 'instructions', 'window', 'tool'])).toEqual([]);
  });

  it('stays gone in a rebuild, which reads over it, and as of an earlier time', async () => {
    const { projecting } = platform.platform.host;
    for (const name of ['agents', 'passages']) {
      await projecting.rebuild(name).start({ swap: false });
      await until(async () => (await projecting.rebuild(name).status())?.state === 'ready', `the rebuild of ${name}`);
      expect((await projecting.rebuild(name).status())?.verification).toMatchObject({ equal: true });
    }
    expect(onDisk(Object.keys(WORDS) as Word[])).toEqual([]);
    const history = await platform.call<{ items: { position: string }[] }>(
      `/api/v1/audit/objects/agent/${ids.agent}/history`,
    );
    const positions = history.body.items.map(({ position }) => position).toSorted();
    const asOf = await platform.call(`/api/v1/audit/objects/agent/${ids.agent}?at=${positions[0]}`);
    expect(asOf.status).toBe(200);
    expect(asOf.body).toMatchObject({
      name: { erased: true },
      public: { enabled: false, windowTitle: { erased: true } },
      tools: [{ id: 'finder', name: { erased: true }, enabled: true }],
    });
    expect(onDisk(Object.keys(WORDS) as Word[])).toEqual([]);
  });

  it('leaves a log that is proven unaltered, with the receipts in it', async () => {
    const { sealKey, sealer } = platform.platform.host;
    await until(() => sealer.waiting === 0);
    const verification = await verifyFolder(platform.dataDir, { publicKeys: [sealKey.publicKey] });
    expect(verification).toMatchObject({ ok: true, findings: [] });
    const erased = verification.erasures.map(({ receipt }) => (receipt as { eventType: string }).eventType);
    expect(new Set(erased)).toEqual(
      new Set([
        'ConversationDeleted',
        'DocumentDeleted',
        'UserDeleted',
        'SpaceDeleted',
        'AgentDeleted',
        'PromptDeleted',
      ]),
    );
  });
});
