import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '@app/kernel';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

let platform: TestPlatform;
let agentId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  agentId = (await platform.call<{ id: string }>('/api/v1/core/agents', { method: 'POST', body: { name: 'Guide', knowledgeEnabled: true } })).body.id;
});
afterAll(() => platform.stop());

const documents = async () => (await platform.call<{ items: { id: string; status: string }[] }>(`/api/v1/core/knowledge/${agentId}/documents`)).body.items;
const blobs = () => platform.platform.host.stores.blobs.list(null, 100);

const upload = async (...names: readonly string[]) => {
  const form = new FormData();
  for (const name of names) form.append('file', new Blob([`This is ${name}.`], { type: 'text/plain' }), name);
  const response = await fetch(`${platform.url}/api/v1/core/knowledge/${agentId}/documents`, { method: 'POST', headers: { 'x-api-key': ADMIN_KEY }, body: form });
  return { status: response.status, body: (await response.json()) as { code: string; outcome: string } };
};

describe('an upload of several files that fails half way', () => {
  it.each([
    ['the log refuses the third', 'none', 3],
    ['the answer of the third is lost', 'unknown', 3],
  ] as const)('leaves no document and no body: %s', async (_, outcome, failing) => {
    const { log } = platform.platform.host.stores;
    const append = log.append.bind(log);
    let added = 0;
    const broken = jest.spyOn(log, 'append').mockImplementation(async (stream, events, expected) => {
      const fails = events[0]?.type === 'DocumentAdded' && (added += 1) === failing;
      const receipt = fails && outcome === 'none' ? undefined : await append(stream, events, expected);
      if (receipt === undefined || fails) throw new Unavailable('log', 'it was made to fail', outcome);
      return receipt;
    });
    expect(await upload('a.txt', 'b.txt', 'c.txt', 'd.txt')).toMatchObject({ status: 503, body: { code: 'unavailable', outcome } });
    broken.mockRestore();
    await until(async () => (await documents()).length === 0, 'the end of the documents');
    // Its name may not be known to have come, so the body of an unknown outcome stays for the sweep.
    await until(async () => (await blobs()).length === (outcome === 'none' ? 0 : 1), 'the end of the bodies');
  });
});

test('bodies that no event names are removed when they are older than a day, and no others', async () => {
  const { host } = platform.platform;
  await upload('kept.txt');
  await until(async () => (await documents())[0]?.status === 'Ready', 'the document');
  const named = await blobs();
  const [old, young] = await Promise.all([host.stores.blobs.put('document-x', Buffer.from('left over'), {}), host.stores.blobs.put('document-x', Buffer.from('on its way'), {})]);
  const aged = new Date(Date.now() - 25 * 60 * 60_000);
  for (const file of readdirSync(join(platform.dataDir, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (file.isFile() && file.name !== young.name) utimesSync(join(file.parentPath, file.name), aged, aged);
  }
  const swept = await platform.call('/api/v1/operations/blobs/sweep', { method: 'POST' });
  const before = named.filter((name) => name !== old.name);
  const left = await blobs();
  expect(left).toContain(young.name);
  expect(left).not.toContain(old.name);
  expect(swept.body['removed']).toBeGreaterThanOrEqual(1);
  const [document] = await documents();
  expect((await platform.call(`/api/v1/core/knowledge/${agentId}/documents/${document?.id}/file`)).status).toBe(200);
  expect((await platform.call(`/api/v1/core/knowledge/${agentId}/documents/${document?.id}/chunks`)).status).toBe(200);
  expect(left.filter((name) => before.includes(name)).length).toBe(3);
});
