import { makeLogger, type ServedRoute } from '@app/http';
import { until } from '../fixtures/until';
import { at, type Document } from './guide';
import { type Answer, type Call, startTestPlatform, type TestPlatform } from './harness';
import { pathWith } from './world';

/** Words that stand in the Knowledge of Alice alone, each in another place. */
const CANARIES = {
  name: 'Zanthoquill',
  text: 'Yttermarsh',
  edited: 'Vexolumir',
  tag: 'Quillbranth',
  path: 'Draskopheim',
  synced: 'Ombrelithic',
  question: 'Pherrowick',
} as const;
type Person = Awaited<ReturnType<TestPlatform['newCaller']>>;

let platform: TestPlatform;
let alice: Person;
let bob: Person;
let routes: readonly ServedRoute[];
const logged: string[] = [];
beforeAll(async () => {
  platform = await startTestPlatform({
    listen: true,
    logger: makeLogger('trace', { write: (line) => void logged.push(line) }),
  });
  routes = platform.platform.routes.routes.filter(({ url }) => url.startsWith('/api/v1/core/knowledge/'));
  [alice, bob] = [await platform.newCaller(), await platform.newCaller()];
});
afterAll(() => platform.stop());

const told = (text: string): readonly string[] =>
  Object.values(CANARIES).filter((word) => text.toLowerCase().includes(word.toLowerCase()));
const call = <T = Record<string, unknown>>(path: string, { key }: Person, more: Call = {}) =>
  platform.call<T>(at(path), { key, ...more });
const post = async <T = { id: string }>(path: string, body: object, by: Person): Promise<T> => {
  const answer = await call<T>(path, by, { method: 'POST', body });
  expect([path, answer.status < 300, answer.text]).toEqual([path, true, answer.text]);
  return answer.body;
};
const newAgent = async (by: Person, name: string): Promise<string> => {
  const { id: spaceId } = await post('/spaces', { name }, by);
  return (
    await post(
      '/agents',
      { spaceId, name: 'Guide', knowledgeEnabled: true, includeAiSummary: true, model: 'local-chat' },
      by,
    )
  ).id;
};
const ready = (agent: string, id: string, by: Person) =>
  until(async () => (await call<Document>(`/knowledge/${agent}/documents/${id}`, by)).body.status === 'Ready', 'Ready');
const send = async (agent: string, path: string, text: string, by: Person): Promise<Document> => {
  const form = new FormData();
  form.set('path', path);
  form.set('file', new Blob([text]), 'a.md');
  const response = await fetch(`${platform.url}${at(`/knowledge/${agent}/sources/docs/files`)}`, {
    method: 'POST',
    headers: { 'x-api-key': by.key },
    body: form,
  });
  return (await response.json()) as Document;
};

test('nothing of one Space shows in an answer, error, log, metric or suggestion to another', async () => {
  const [hers, his] = [await newAgent(alice, 'Of Alice'), await newAgent(bob, 'Of Bob')];
  const tagId = (await post(`/knowledge/${hers}/tags`, { name: CANARIES.tag }, alice)).id;
  const documents = `/knowledge/${hers}/documents`;
  const content = `# Ferries\n\nThe ferry to ${CANARIES.text} leaves at nine.\n\n# Trains\n\nThe train leaves at ten.`;
  const documentId = (
    await post(documents, { name: `${CANARIES.name}.md`, content, mimeType: 'text/markdown', tagIds: [tagId] }, alice)
  ).id;
  await ready(hers, documentId, alice);
  const chunks = (await call<{ items: { id: string }[] }>(`${documents}/${documentId}/chunks`, alice)).body.items;
  const chunkId = chunks[1]?.id ?? '';
  await call(`${documents}/${documentId}/chunks/${chunkId}`, alice, {
    method: 'PUT',
    body: { text: `The train to ${CANARIES.edited} leaves at ten.` },
  });
  const synced = await send(hers, `${CANARIES.path}/a.md`, `The harbour of ${CANARIES.synced} sleeps.`, alice);
  await ready(hers, synced.id, alice);
  await post(`/knowledge/${hers}/summary-index`, {}, alice);
  await post(`/llm/${hers}/conversation`, { message: `When does the ferry leave for ${CANARIES.question}?` }, alice);
  await post(`/knowledge/${hers}/search`, { query: CANARIES.text }, alice);
  const own = (
    await post(
      `/knowledge/${his}/documents`,
      { name: 'Own.md', content: 'The ferry leaves at one.', mimeType: 'text/plain' },
      bob,
    )
  ).id;
  await ready(his, own, bob);

  const heard: string[] = [];
  const hear = ({ status, text, headers }: Answer): number => {
    heard.push(text, JSON.stringify(headers));
    return status;
  };
  const bodies: Readonly<Record<string, object>> = {
    bulk: { operation: 'addTag', tagId, documentIds: [documentId, own] },
    download: { documentIds: [documentId, own] },
    sync: { files: [], confirmDeletions: true },
    search: { query: 'ferry train harbour', tagIds: [tagId] },
    documents: { name: 'x', content: 'x', mimeType: 'text/plain', tagIds: [tagId] },
    tags: { name: 'x' },
  };
  // Every route of Knowledge, with every id of hers, through her Agent and through his.
  for (const agentId of [hers, his]) {
    const ids = { agentId, documentId, chunkId, tagId, sourceId: 'docs' };
    for (const { method, url } of routes.filter(({ url: each }) => !each.endsWith('/events'))) {
      const body = method === 'GET' || method === 'HEAD' ? undefined : bodies[url.split('/').at(-1) ?? ''];
      const status = hear(
        await call(pathWith(url, ids).replace('/api/v1/core', ''), bob, {
          method: method as 'GET',
          ...(body === undefined ? {} : { body }),
        }),
      );
      if (agentId === hers) expect([method, url, status >= 400]).toEqual([method, url, true]);
      if (url.includes(':documentId') || url.includes(':tagId'))
        expect([method, url, status >= 400]).toEqual([method, url, true]);
    }
  }
  // What may suggest: equal names, equal tags, equal paths and parts of names.
  hear(await call(`/knowledge/${his}/documents?q=${CANARIES.name.slice(0, 4)}`, bob));
  for (const operation of ['delete', 'forceReprocess'])
    expect(
      (
        await post<{ results: object[] }>(
          `/knowledge/${his}/documents/bulk`,
          { operation, documentIds: [documentId, synced.id] },
          bob,
        )
      ).results,
    ).toEqual([documentId, synced.id].map((id) => ({ documentId: id, ok: false, code: 'not_found' })));
  for (const mode of ['text', 'vector', 'hybrid'])
    hear(
      await call(`/knowledge/${his}/search`, bob, {
        method: 'POST',
        body: { query: 'When do ferry, train and harbour leave or sleep?', mode, topK: 100 },
      }),
    );
  hear(
    await call(`/llm/${his}/conversation`, bob, { method: 'POST', body: { message: 'When does the ferry leave?' } }),
  );
  // The same names are free to him, and tell nothing.
  expect(
    await post<{ sameName: string[] }>(
      `/knowledge/${his}/documents`,
      { name: `${CANARIES.name}.md`, content: 'x', mimeType: 'text/plain' },
      bob,
    ),
  ).toMatchObject({ sameName: [] });
  await post(`/knowledge/${his}/tags`, { name: CANARIES.tag }, bob);
  expect((await send(his, `${CANARIES.path}/a.md`, 'Mine.', bob)).id).not.toBe(synced.id);
  expect(heard.flatMap(told)).toEqual([]);

  // What is hers is as it was.
  const after = (await call<{ items: (Document & { tags: { id: string }[] })[] }>(documents, alice)).body.items;
  expect(after.map(({ id, status, tags }) => [id, status, tags.length])).toEqual([
    [synced.id, 'Ready', 0],
    [documentId, 'Ready', 1],
  ]);

  // Logs at the finest level, metrics and dead letters hold nobody's words.
  const metrics = await platform.call('/metrics');
  const letters = await platform.call('/api/v1/operations/dead-letters');
  expect([metrics.status, letters.status, told(metrics.text), told(letters.text), told(logged.join(''))]).toEqual([
    200,
    200,
    [],
    [],
    [],
  ]);
});
