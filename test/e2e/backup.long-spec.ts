import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, restore } from '@app/backup';
import { systemClock } from '@app/kernel';
import { wordsUnder } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';
import { allReached, everyRow, fill } from './whole-instance';

const VAULT_KEY = 'the vault key of a test of backups, kept apart';
const SEAL_KEY = 'the seal key of a test of backups, kept apart too';
const environment = { VAULT_KEY, SEAL_KEY };

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'backup-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a restored instance shows every row of every view as the one that was backed up while it ran', async () => {
  const first = await startTestPlatform({ environment });
  await fill(first);
  const manifest = await backup({
    dataFolder: first.dataDir,
    folder: join(root, 'backup'),
    keysFile: join(root, 'keys'),
    clock: systemClock,
  });
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
  expect([...named]).toEqual(
    expect.arrayContaining([
      'agents',
      'api-keys',
      'conversations',
      'documents',
      'messages',
      'passages',
      'prompts',
      'spaces',
      'users',
    ]),
  );
  expect(JSON.stringify(before)).not.toContain('erased');
  expect(after).toEqual(before);
}, 300_000);

describe('what was erased after the backup', () => {
  const WORDS = { document: 'Zanthoquill', space: 'Quillbranth', user: 'Mirkwellian' };
  const core = (path: string): string => `/api/v1/core${path}`;
  const paths = (ids: Ids) =>
    [
      `/knowledge/${ids.guide}/documents/${ids.document}`,
      `/spaces/${ids.space}`,
      `/agents/${ids.agent}`,
      `/users/${ids.user}`,
    ].map(core);
  type Ids = Awaited<ReturnType<typeof make>>;

  const make = async ({ call }: TestPlatform) => {
    const post = async (path: string, body: object) =>
      (await call<{ id: string }>(core(path), { method: 'POST', body })).body.id;
    const guide = await post('/agents', { name: 'Guide', knowledgeEnabled: true });
    const document = await post(`/knowledge/${guide}/documents`, {
      name: 'a.md',
      content: `The ferry to ${WORDS.document} leaves at nine.`,
      mimeType: 'text/markdown',
    });
    await until(
      async () =>
        (await call<{ status: string }>(core(`/knowledge/${guide}/documents/${document}`))).body.status === 'Ready',
      'the document',
    );
    const space = await post('/spaces', { name: WORDS.space });
    const agent = await post('/agents', { spaceId: space, name: 'Of the Space' });
    return {
      guide,
      document,
      space,
      agent,
      user: await post('/users', { email: 'gone@example.com', name: WORDS.user, role: 'member' }),
    };
  };
  const receipts = async ({ call }: TestPlatform) =>
    (
      await call<{ items: readonly { data: { stream: string } }[] }>('/api/v1/audit/events?category=erasure&limit=100')
    ).body.items.map(({ data }) => data.stream);
  const erased = (test_: TestPlatform, ids: Ids) =>
    until(async () => {
      const found = await receipts(test_);
      return [`document-${ids.document}`, `space-${ids.space}`, `agent-${ids.agent}`, `user-${ids.user}`].every(
        (stream) => found.includes(stream),
      );
    }, 'the receipts');
  const wordsOnDisk = (folder: string) => wordsUnder(folder, Object.values(WORDS));

  it.each([
    ['where its vault is still there', (dataFolder: string) => ({ dataFolder, keysFile: join(root, 'keys') })],
    ['where only newer keys are left', () => ({ dataFolder: join(root, 'new'), keysFile: join(root, 'newer-keys') })],
  ])(
    'stays erased in a restored instance, which deletes it again and says so: %s',
    async (_, chosen) => {
      const first = await startTestPlatform({ environment });
      const ids = await make(first);
      await backup({
        dataFolder: first.dataDir,
        folder: join(root, 'backup'),
        keysFile: join(root, 'keys'),
        clock: systemClock,
      });
      expect(wordsOnDisk(first.dataDir)).toEqual(Object.values(WORDS));
      for (const path of paths(ids)) if (!path.includes(ids.agent)) await first.call(path, { method: 'DELETE' });
      await erased(first, ids);
      await backup({
        dataFolder: first.dataDir,
        folder: join(root, 'newer'),
        keysFile: join(root, 'newer-keys'),
        clock: systemClock,
      });
      await first.stop({ keep: true });
      for (const lost of ['log', 'views', 'search', 'blobs']) rmSync(join(first.dataDir, lost), { recursive: true });

      const { dataFolder, keysFile } = chosen(first.dataDir);
      await restore({ folder: join(root, 'backup'), keysFile, vaultKey: VAULT_KEY, dataFolder });
      const second = await startTestPlatform({ environment, dataDir: dataFolder });
      await erased(second, ids);
      expect(await Promise.all(paths(ids).map(async (path) => (await second.call(path)).status))).toEqual([
        404, 404, 404, 404,
      ]);
      expect(
        (
          await second.call<{ items: unknown[] }>(core(`/knowledge/${ids.guide}/search`), {
            method: 'POST',
            body: { query: `ferry ${WORDS.document}` },
          })
        ).body.items,
      ).toEqual([]);
      const asOf = await second.call<{ items: { position: string }[] }>(
        `/api/v1/audit/objects/space/${ids.space}/history`,
      );
      expect(
        (
          await second.call(
            `/api/v1/audit/objects/space/${ids.space}?at=${asOf.body.items.map(({ position }) => position).toSorted()[0]}`,
          )
        ).body['name'],
      ).toEqual({ erased: true });
      expect(wordsOnDisk(dataFolder)).toEqual([]);
      const again = await second.call(core('/users'), {
        method: 'POST',
        body: { email: 'gone@example.com', name: 'Somebody else', role: 'member' },
      });
      expect(again.status).toBe(201);
      await second.stop({ keep: true });
      rmSync(first.dataDir, { recursive: true, force: true });
    },
    300_000,
  );

  it('stays erased where an older log was put in place beside the views', async () => {
    const made = await startTestPlatform({ environment });
    const ids = await make(made);
    await made.stop({ keep: true });
    cpSync(join(made.dataDir, 'log'), join(root, 'log'), { recursive: true });
    const deleting = await startTestPlatform({ environment, dataDir: made.dataDir });
    for (const path of paths(ids)) if (!path.includes(ids.agent)) await deleting.call(path, { method: 'DELETE' });
    await erased(deleting, ids);
    await deleting.stop({ keep: true });
    rmSync(join(made.dataDir, 'log'), { recursive: true });
    cpSync(join(root, 'log'), join(made.dataDir, 'log'), { recursive: true });

    const again = await startTestPlatform({ environment, dataDir: made.dataDir });
    await erased(again, ids);
    await until(
      async () =>
        (await Promise.all(paths(ids).map(async (path) => (await again.call(path)).status))).every(
          (status) => status === 404,
        ),
      'the end of what was erased',
    );
    await again.stop();
  }, 300_000);

  it('stays erased where older keys stand beside a newer log: restored with it, or put in the place of the vault', async () => {
    const first = await startTestPlatform({ environment });
    const ids = await make(first);
    const { stores } = first.platform.host;
    const said = async (platform: TestPlatform) => {
      const answers = await Promise.all(
        ['space', 'document', 'user'].map((category) =>
          platform.call(`/api/v1/audit/events?category=${category}&content=true&limit=100`),
        ),
      );
      return Object.values(WORDS).filter((word) => JSON.stringify(answers.map(({ body }) => body)).includes(word));
    };
    const keys = [`document-${ids.document}`, `space-${ids.space}`, `agent-${ids.agent}`, `user-${ids.user}`];
    expect((await stores.vault.keys(keys)).size).toBe(keys.length);
    expect(await said(first)).toEqual([WORDS.space, WORDS.user]);
    const copied = async (name: string) => {
      const [folder, keysFile] = [join(root, name), join(root, `${name}-keys`)];
      await backup({ dataFolder: first.dataDir, folder, keysFile, clock: systemClock });
    };
    await copied('older');
    for (const path of paths(ids)) if (!path.includes(ids.agent)) await first.call(path, { method: 'DELETE' });
    await erased(first, ids);
    await copied('newer');
    await first.stop();

    const dataFolder = join(root, 'restored');
    await restore({ folder: join(root, 'newer'), keysFile: join(root, 'older-keys'), vaultKey: VAULT_KEY, dataFolder });
    for (const putting of [false, true]) {
      if (putting) {
        rmSync(join(dataFolder, 'vault'), { recursive: true });
        mkdirSync(join(dataFolder, 'vault'));
        cpSync(join(root, 'older-keys'), join(dataFolder, 'vault', 'vault.sqlite'));
      }
      const second = await startTestPlatform({ environment, dataDir: dataFolder });
      const { vault } = second.platform.host.stores;
      expect([await said(second), (await vault.keys(keys)).size]).toEqual([[], 0]);
      await expect(vault.ensureKey('prompt-later', { spaceId: ids.space })).rejects.toMatchObject({
        code: 'not_found',
      });
      await second.stop({ keep: true });
    }
  }, 120_000);
});
