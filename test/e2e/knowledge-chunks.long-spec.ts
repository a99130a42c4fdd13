import { randomUUID } from 'node:crypto';
import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';
import { sendBroken } from './several-appends';

interface Chunk {
  readonly id: string;
  readonly text: string;
  readonly enabled: boolean;
  readonly edited: boolean;
  readonly unchanged?: true;
  readonly code?: string;
}
type Shown = Document & { readonly enabled: boolean; readonly unchanged?: true };

const CONTENT = '# Wombats\n\nThe wombat digs at night.\n\n# Numbats\n\nThe numbat eats termites.';

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

const setUp = async (name: string) => {
  const agent = await guide.newAgent(name);
  const documents = at(`/knowledge/${agent}/documents`);
  const { id } = (
    await guide.platform.call<Document>(documents, {
      method: 'POST',
      body: { name: 'animals.md', content: CONTENT, mimeType: 'text/markdown' },
    })
  ).body;
  await guide.ready(id, agent);
  const path = `${documents}/${id}`;
  const chunks = async () => (await guide.platform.call<{ items: Chunk[] }>(`${path}/chunks`)).body.items;
  const edit = (chunkId: string, body: object, headers: Record<string, string> = {}, key = ADMIN_KEY) =>
    guide.platform.call<Chunk>(`${path}/chunks/${chunkId}`, { method: 'PUT', key, body, headers });
  const change = (body: object) => guide.platform.call<Shown>(path, { method: 'PUT', body });
  const found = async (query: string, modes: readonly string[] = ['text', 'vector', 'hybrid']) =>
    Promise.all(
      modes.map(async (mode) => {
        const { body } = await guide.platform.call<{ items: { chunkId: string; text: string }[] }>(
          at(`/knowledge/${agent}/search`),
          { method: 'POST', body: { query, mode } },
        );
        return body.items.map(({ text }) => text);
      }),
    );
  const cited = async (question: string) =>
    (await guide.ask(question, {}, agent)).body.message.parts.filter(({ type }) => type === 'source-document');
  return { agent, id, path, chunks, edit, change, found, cited };
};

describe('a chunk', () => {
  it('is read by its id, with the etag of its document', async () => {
    const { path, chunks, edit } = await setUp('Reading one');
    const [, numbats] = (await chunks()) as [Chunk, Chunk];
    await edit(numbats.id, { enabled: false });
    const { revision } = (await guide.platform.call<Shown>(path)).body;
    const one = await guide.platform.call<Chunk>(`${path}/chunks/${numbats.id}`);
    expect([one.status, one.body]).toEqual([200, { ...numbats, enabled: false }]);
    expect(one.headers['etag']).toBe(`"${revision}"`);
    expect((await guide.platform.call(`${path}/chunks/${randomUUID()}`)).status).toBe(404);
  });

  it('is there as it was edited where the answer of the log was lost', async () => {
    const { path, chunks } = await setUp('Losing');
    const [wombats] = (await chunks()) as [Chunk];
    const send = (headers: Readonly<Record<string, string>>) =>
      guide.platform.call(`${path}/chunks/${wombats.id}`, { method: 'PUT', body: { text: 'A quokka.' }, headers });
    const { answer } = await sendBroken(guide.platform, send, 1, 'lost');
    expect(answer).toMatchObject({ status: 503, body: { outcome: 'unknown' } });
    await until(async () => (await chunks())[0]?.text === 'A quokka.', 'the edit');
  });

  it('is searched and cited as it was edited, and no more as it was', async () => {
    const { chunks, edit, found, cited, path } = await setUp('Editing');
    const [wombats] = (await chunks()) as [Chunk];
    expect(wombats).toMatchObject({ text: 'The wombat digs at night.', enabled: true, edited: false });
    const before = (await guide.platform.call<Shown>(path)).body;
    const answer = await edit(wombats.id, { text: 'The quokka smiles at noon.' });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { id: wombats.id, text: 'The quokka smiles at noon.', edited: true, enabled: true },
    ]);
    expect((await chunks()).map(({ text, edited }) => [text, edited])).toEqual([
      ['The quokka smiles at noon.', true],
      ['The numbat eats termites.', false],
    ]);
    for (const texts of await found('quokka smiles')) expect(texts[0]).toBe('The quokka smiles at noon.');
    expect(await found('digs night', ['text'])).toEqual([[]]);
    expect((await found('digs night')).flat()).not.toContain('The wombat digs at night.');
    const [source] = await cited('When does the quokka smile?');
    expect(source?.quote).toBe('The quokka smiles at noon.');
    const after = (await guide.platform.call<Shown>(path)).body;
    expect([after.status, after.indexedRevision, after.revision > before.revision]).toEqual([
      'Ready',
      before.indexedRevision,
      true,
    ]);
    const again = await edit(wombats.id, { text: 'The quokka smiles at noon.' });
    expect([again.status, again.body.unchanged]).toEqual([200, true]);
  });

  it('that is disabled answers nothing until it is enabled again', async () => {
    const { chunks, edit, found } = await setUp('Disabling');
    const [, numbats] = (await chunks()) as [Chunk, Chunk];
    expect((await edit(numbats.id, { enabled: false })).body).toMatchObject({ enabled: false, edited: false });
    expect((await found('numbat termites')).flat()).not.toContain(numbats.text);
    expect((await edit(numbats.id, { enabled: true })).body).toMatchObject({ enabled: true, edited: false });
    for (const texts of await found('numbat termites')) expect(texts[0]).toBe(numbats.text);
  });

  it('stays edited when equal content is ingested again, and is dropped with its content, which the log says', async () => {
    const { agent, id, path, chunks, edit, change, found } = await setUp('Keeping');
    const [wombats, numbats] = (await chunks()) as [Chunk, Chunk];
    await edit(wombats.id, { text: 'The quokka smiles at noon.' });
    await edit(numbats.id, { enabled: false });
    await guide.platform.call(`${path}/reprocess`, { method: 'POST', body: { force: true } });
    await guide.ready(id, agent);
    expect(await chunks()).toMatchObject([
      { id: wombats.id, text: 'The quokka smiles at noon.', edited: true, enabled: true },
      { id: numbats.id, edited: false, enabled: false },
    ]);
    expect((await found('quokka smiles', ['text']))[0]).toEqual(['The quokka smiles at noon.']);
    expect((await found('numbat termites', ['text']))[0]).toEqual([]);

    await change({ content: CONTENT.replace('digs at night', 'digs by day') });
    await guide.ready(id, agent);
    expect(await chunks()).toMatchObject([
      { text: 'The wombat digs by day.', edited: false, enabled: true },
      { id: numbats.id, edited: false, enabled: false },
    ]);
    const logs = await guide.platform.call<{ items: { event: string; produced: number | null }[] }>(`${path}/logs`);
    expect(logs.body.items.filter(({ event }) => event === 'editsDropped').map(({ produced }) => produced)).toEqual([
      1,
    ]);
  });

  it('is embedded alone, once, for whoever edits it', async () => {
    const { agent, chunks, edit } = await setUp('Metering');
    const [wombats] = (await chunks()) as [Chunk];
    const calls = async () =>
      (
        await guide.platform.call<{ items: { kind: string }[] }>(
          at(`/usage/invocations?${EVER}&agentId=${agent}&limit=100`),
        )
      ).body.items.filter(({ kind }) => kind === 'embedding').length;
    // Records follow calls. The first is that of ingestion.
    await until(async () => (await calls()) === 1, 'the record of ingestion');
    await edit(wombats.id, { text: 'The quokka smiles at noon.' });
    await edit(wombats.id, { text: 'The quokka smiles at noon.' });
    await edit(wombats.id, { enabled: false });
    await edit(wombats.id, { text: 'The quokka smiles at one.' });
    await until(async () => (await calls()) >= 3, 'the records of both texts');
    expect(await calls()).toBe(3);
  });

  it('takes no empty or endless text, no unknown field, and no stale revision; unknown ones are unknown', async () => {
    const { agent, path, chunks, edit } = await setUp('Refusing');
    const [wombats] = (await chunks()) as [Chunk];
    for (const body of [
      { text: '' },
      { text: ' \n\t' },
      { text: 'x'.repeat(8_001) },
      { text: null },
      { enabled: 'no' },
      { name: 'x' },
    ])
      expect([body, (await edit(wombats.id, body)).status]).toEqual([body, 400]);
    expect((await edit(wombats.id, {})).body.unchanged).toBe(true);
    expect((await edit(wombats.id, { text: 'Late.' }, { 'if-match': '"0"' })).status).toBe(412);
    expect((await edit(randomUUID(), { text: 'x' })).status).toBe(404);
    const other = await setUp('Refusing elsewhere');
    const [foreign] = (await other.chunks()) as [Chunk];
    expect((await edit(foreign.id, { text: 'Stolen.' })).status).toBe(404);
    const viewer = await guide.platform.newCaller();
    const { spaceId } = (await guide.platform.call<{ spaceId: string }>(at(`/agents/${agent}`))).body;
    await guide.platform.call(at(`/spaces/${spaceId}/members/${viewer.userId}`), {
      method: 'PUT',
      body: { role: 'viewer' },
    });
    expect((await edit(wombats.id, { text: 'x' }, {}, viewer.key)).status).toBe(403);
    await guide.platform.call(path, { method: 'PUT', body: { content: '%PDF', mimeType: 'application/x-unknown' } });
    expect((await edit(wombats.id, { text: 'x' })).body).toMatchObject({ code: 'conflict' });
  });

  it('loses no edit of others who edit at once', async () => {
    const { chunks, edit } = await setUp('Racing edits');
    const [first, second] = (await chunks()) as [Chunk, Chunk];
    const answers = await Promise.all([
      edit(first.id, { text: 'The first is edited.' }),
      edit(second.id, { text: 'The second is edited.' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await chunks()).map(({ text }) => text)).toEqual(['The first is edited.', 'The second is edited.']);
  });
});

describe('a document', () => {
  it('that is disabled answers nothing and stays Ready, until it is enabled again', async () => {
    const { agent, id, path, chunks, change, found, cited } = await setUp('Switching');
    const disabled = await change({ enabled: false });
    expect([disabled.status, disabled.body.status, disabled.body.enabled]).toEqual([200, 'Ready', false]);
    expect((await change({ enabled: false })).body.unchanged).toBe(true);
    expect([await found('wombat digs'), await cited('When does the wombat dig?')]).toEqual([[[], [], []], []]);
    expect((await chunks()).length).toBe(2);

    // Also when it is ingested again meanwhile.
    await guide.platform.call(`${path}/reprocess`, { method: 'POST', body: { force: true } });
    expect(await guide.ready(id, agent)).toMatchObject({ status: 'Ready', enabled: false });
    expect(await found('wombat digs')).toEqual([[], [], []]);

    const enabled = await change({ enabled: true, name: 'wombats.md' });
    expect([enabled.body.enabled, enabled.body.name]).toEqual([true, 'wombats.md']);
    for (const texts of await found('wombat digs')) expect(texts[0]).toBe('The wombat digs at night.');
    expect((await cited('When does the wombat dig?'))[0]?.title).toBe('wombats.md');
  });

  it('that is disabled holds the edits that are made meanwhile', async () => {
    const { chunks, edit, change, found } = await setUp('Editing what is disabled');
    await change({ enabled: false });
    const [wombats] = (await chunks()) as [Chunk];
    expect((await edit(wombats.id, { text: 'The quokka smiles at noon.' })).status).toBe(200);
    expect((await found('quokka')).flat()).toEqual([]);
    await change({ enabled: true });
    expect((await found('quokka', ['text']))[0]).toEqual(['The quokka smiles at noon.']);
  });
});
