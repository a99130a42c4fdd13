import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, restore } from '@app/backup';
import { projections } from '@app/hosting';
import { systemClock } from '@app/kernel';
import { startTestPlatform, type TestPlatform, until } from './harness';

const VAULT_KEY = 'the vault key of a test of backups, kept apart';
const SEAL_KEY = 'the seal key of a test of backups, kept apart too';
const environment = { VAULT_KEY, SEAL_KEY };

let root: string;
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'backup-'))));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Makes some of everything that a view shows. */
const fill = async ({ call }: TestPlatform): Promise<void> => {
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.body.id;
  };
  const space = await post('/spaces', { name: 'Backed up' });
  await post(`/spaces/${space}/prompts`, { title: 'Greeting', text: 'Say hello.' });
  const agent = await post('/agents', { spaceId: space, name: 'Guide', knowledgeEnabled: true });
  await post('/users', { email: 'somebody@example.com', name: 'Somebody', role: 'member' });
  const document = await post(`/knowledge/${agent}/documents`, { name: 'ferries.md', content: '# Ferries\n\nThe ferry leaves at nine.', mimeType: 'text/markdown' });
  await until(async () => (await call<{ status: string }>(`/api/v1/core/knowledge/${agent}/documents/${document}`)).body.status === 'Ready', 'the document');
  await post(`/llm/${agent}/conversation`, { message: 'When does the ferry leave?' });
  await call(`/api/v1/core/spaces/${await post('/spaces', { name: 'Deleted' })}`, { method: 'DELETE' });
};

/** Every row of every view and the digest of every searchable document, as of a position: later rows are left out. */
const everyRow = async ({ platform: { host } }: TestPlatform, upTo: string) => {
  const { readStore, searchIndex } = host.stores;
  const rows: unknown[] = [];
  for (const { kind, name } of projections) {
    const version = (await (kind === 'rows' ? readStore : searchIndex).live(name)) ?? 1;
    if (kind === 'search') rows.push(...(await searchIndex.scan(name, version, null, 1_000)).map((found) => ({ name, ...found })));
    else rows.push(...(await readStore.scan(name, version, null, 10_000)).filter(({ position }) => position <= upTo).map((row) => ({ name, ...row })));
  }
  return rows;
};

const allReached = async ({ platform: { host } }: TestPlatform, position: string): Promise<void> => {
  for (const view of host.projecting.names()) await until(() => host.projecting.waitFor(view, position, 1_000), `the view ${view}`);
};

test('a restored instance shows every row of every view as the one that was backed up while it ran', async () => {
  const first = await startTestPlatform({ environment });
  await fill(first);
  const manifest = await backup({ dataFolder: first.dataDir, folder: join(root, 'backup'), keysFile: join(root, 'keys'), clock: systemClock });
  const head = manifest.head ?? '';
  await allReached(first, head);
  const before = await everyRow(first, head);
  await first.stop();

  const dataFolder = join(root, 'restored');
  await restore({ folder: join(root, 'backup'), keysFile: join(root, 'keys'), vaultKey: VAULT_KEY, dataFolder });
  const second = await startTestPlatform({ environment, dataDir: dataFolder });
  await allReached(second, head);
  const after = await everyRow(second, head);
  await second.stop();

  const named = new Set(before.map((row) => (row as { name: string }).name));
  expect([...named]).toEqual(expect.arrayContaining(['agents', 'api-keys', 'conversations', 'documents', 'messages', 'passages', 'prompts', 'spaces', 'users']));
  expect(JSON.stringify(before)).not.toContain('erased');
  expect(after).toEqual(before);
}, 120_000);
