import { wordsUnder } from '../fixtures/files-under';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { at, type Document } from './guide';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

/** Words that stand in nothing but what is deleted. */
const WORDS = {
  name: 'Zanthoquill',
  text: 'Yttermarsh',
  replaced: 'Quillbranth',
  edited: 'Vexolumir',
  path: 'Draskopheim',
  file: 'Ombrelithic',
} as const;
const TEN_SECONDS_MS = 10_000;

let platform: TestPlatform;
let agent: string;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  agent = (
    await platform.call<{ id: string }>(at('/agents'), {
      method: 'POST',
      body: { name: 'Guide', knowledgeEnabled: true, includeAiSummary: true, model: 'local-chat' },
    })
  ).body.id;
});
afterAll(() => platform.stop());

const documents = () => at(`/knowledge/${agent}/documents`);
const post = async <T>(path: string, body: object): Promise<T> =>
  (await platform.call<T>(path, { method: 'POST', body })).body;
const ready = (id: string) =>
  until(
    async () => (await platform.call<Document>(`${documents()}/${id}`)).body.status === 'Ready',
    'the end of ingestion',
  );

/** Which of the words stand in any file under `DATA_DIR`, in any case. */
const onDisk = (): readonly string[] => wordsUnder(platform.dataDir, Object.values(WORDS));

/** What searches say of the words, in each mode. */
const found = async (): Promise<readonly string[]> => {
  const answers = await Promise.all(
    ['text', 'vector', 'hybrid'].map((mode) =>
      platform.call(at(`/knowledge/${agent}/search`), {
        method: 'POST',
        body: { query: `The ferry to ${Object.values(WORDS).join(' ')}`, mode, topK: 100 },
      }),
    ),
  );
  return Object.values(WORDS).filter((word) => answers.some(({ text }) => text.includes(word)));
};

/** A document that was replaced, edited and is summarised, and one from a source. */
const addAll = async (): Promise<readonly string[]> => {
  const { id } = await post<Document>(documents(), {
    name: `${WORDS.name}.md`,
    content: `# Places\n\nThe ferry to ${WORDS.replaced} leaves at eight.`,
    mimeType: 'text/markdown',
  });
  await ready(id);
  await platform.call(`${documents()}/${id}`, {
    method: 'PUT',
    body: { content: `# Places\n\nThe ferry to ${WORDS.text} leaves at nine.\n\n# Times\n\nIt returns at ten.` },
  });
  await ready(id);
  const chunks = (await platform.call<{ items: { id: string }[] }>(`${documents()}/${id}/chunks`)).body.items;
  await platform.call(`${documents()}/${id}/chunks/${chunks[1]?.id}`, {
    method: 'PUT',
    body: { text: `It returns from ${WORDS.edited} at ten.` },
  });
  const form = new FormData();
  form.set('path', `${WORDS.path}/a.md`);
  form.set('file', new Blob([`The harbour of ${WORDS.file} sleeps.`]), 'a.md');
  const response = await fetch(`${platform.url}${at(`/knowledge/${agent}/sources/docs/files`)}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const synced = (await response.json()) as Document;
  await ready(synced.id);
  return [id, synced.id];
};

const buildSummaries = async (): Promise<void> => {
  const path = at(`/knowledge/${agent}/summary-index`);
  expect((await platform.call(path, { method: 'POST' })).status).toBe(202);
  await until(
    async () => (await platform.call<{ state: string }>(path)).body.state === 'ready',
    'the section summaries',
  );
};

const receipts = async (ids: readonly string[]): Promise<number> => {
  const { items } = (
    await platform.call<{ items: { data: { eventType?: string; stream?: string } }[] }>(
      '/api/v1/audit/events?category=erasure&type=ContentErased&limit=100',
    )
  ).body;
  return ids.filter((id) => items.some(({ data }) => data.stream === `document-${id}`)).length;
};

/** Stored bodies that events of the documents name or named. */
const bodiesOf = async (ids: readonly string[]): Promise<readonly string[]> => {
  const { blobs, log } = platform.platform.host.stores;
  const events = await Promise.all(ids.map((id) => log.readStream(`document-${id}`)));
  const said = events.flat().map(({ data }) => data);
  return (await blobs.list(null, 10_000)).filter((name) => said.some((data) => data.includes(name)));
};

const rebuildAll = async (): Promise<void> => {
  const { projecting } = platform.platform.host;
  for (const name of ['documents', 'document-logs', 'passages', 'section-summaries']) {
    await projecting.rebuild(name).start({ swap: true });
    await until(async () => (await projecting.rebuild(name).status())?.state === 'swapped', `the rebuild of ${name}`);
    await projecting.rebuild(name).retire();
  }
};

describe.each(['one by one', 'at once', 'by the sync of their source'] as const)(
  'documents that are deleted %s',
  (how) => {
    it('are gone within ten seconds from searches, chunks, files and summaries, with receipts, and no rebuild brings them back', async () => {
      const ids = await addAll();
      await buildSummaries();
      expect(await found()).toEqual(expect.arrayContaining([WORDS.text, WORDS.edited, WORDS.file]));
      expect(onDisk()).toEqual(expect.arrayContaining([WORDS.text, WORDS.edited, WORDS.file]));

      expect((await bodiesOf(ids)).length).toBeGreaterThanOrEqual(6);

      const took = ownTime();
      const [own, synced] = ids as [string, string];
      if (how === 'at once') await post(`${documents()}/bulk`, { operation: 'delete', documentIds: ids });
      else {
        await platform.call(`${documents()}/${own}`, { method: 'DELETE' });
        if (how === 'one by one') await platform.call(`${documents()}/${synced}`, { method: 'DELETE' });
        else
          expect(await post(at(`/knowledge/${agent}/sources/docs/sync`), { files: [] })).toMatchObject({
            vanished: [`${WORDS.path}/a.md`],
          });
      }
      expect(await found()).toEqual([]);
      for (const id of ids)
        for (const part of ['', '/chunks', '/content', '/file', '/logs'])
          expect((await platform.call(`${documents()}/${id}${part}`)).status).toBe(404);
      await until(async () => (await receipts(ids)) === ids.length, 'the receipts');
      await until(() => onDisk().length === 0, 'that the files are free of them');
      await until(async () => (await bodiesOf(ids)).length === 0, 'that their stored bodies are gone');
      expect(took()).toBeLessThan(TEN_SECONDS_MS);

      await rebuildAll();
      expect([await found(), onDisk()]).toEqual([[], []]);
      expect((await platform.call<{ items: object[] }>(documents())).body.items).toEqual([]);
    });
  },
);
