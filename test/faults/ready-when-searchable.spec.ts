import type { Blobs } from '@app/blobs';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';

/** Fault 26: Ready only once searchable, also where the search index moves past a document without taking it. */
let test_: TestPlatform;
beforeAll(async () => (test_ = await startTestPlatform()));
afterAll(() => test_.stop());

/** From the second read of each document on, its blobs are not what was stored: ingestion reads the file, the search index its passages. */
const breakPassages = (blobs: Blobs): jest.SpyInstance => {
  const get = blobs.get.bind(blobs);
  const read = new Set<string>();
  return jest.spyOn(blobs, 'get').mockImplementation(async (stream, name) => {
    if (read.has(stream)) return Buffer.from('{');
    read.add(stream);
    return get(stream, name);
  });
};

test('a document whose passages the search index could not take is Failed and says so, and Ready when they were taken after all', async () => {
  const { call, platform } = test_;
  const { projecting, stores } = platform.host;
  const agent = await call<{ id: string }>('/api/v1/core/agents', {
    method: 'POST',
    body: { name: 'Guide', knowledgeEnabled: true },
  });
  const path = `/api/v1/core/knowledge/${agent.body.id}`;
  const broken = breakPassages(stores.blobs);
  const added = await call<{ id: string }>(`${path}/documents`, {
    method: 'POST',
    body: { name: 'a.md', content: 'Zebras sleep standing up.', mimeType: 'text/markdown' },
  });
  const document = async () =>
    (await call<{ status: string; statusDetail?: { code: string } }>(`${path}/documents/${added.body.id}`)).body;
  const found = async () =>
    (
      await call<{ items: readonly unknown[] }>(`${path}/search`, {
        method: 'POST',
        body: { query: 'zebras', mode: 'text' },
      })
    ).body.items.length;
  const ended = () =>
    until(async () => ['Ready', 'Failed'].includes((await document()).status), 'the end of ingestion');

  await ended();
  expect(await document()).toMatchObject({ status: 'Failed', statusDetail: { code: 'not_searchable' } });
  expect(await found()).toBe(0);

  broken.mockRestore();
  const [letter] = await projecting.deadLetters();
  expect(letter).toMatchObject({ name: 'passages', stream: `document-${added.body.id}` });
  await projecting.retryDeadLetter(letter?.id ?? '');
  await call(`${path}/documents/${added.body.id}/reprocess`, { method: 'POST', body: { force: true } });
  await ended();
  expect(await document()).toMatchObject({ status: 'Ready' });
  expect(await found()).toBe(1);
});
