import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, restore } from '@app/backup';
import { openLogReader } from '@app/hosting';
import { readConfig, systemClock } from '@app/kernel';
import { exportLog, verifyExport } from '@app/sealing';
import { wordsUnder } from '../fixtures/files-under';
import { verifyFolder } from '../fixtures/sealed-log';
import { until } from '../fixtures/until';
import { startTestPlatform } from './harness';

const VAULT_KEY = 'the vault key of a test of backups, kept apart';
const SEAL_KEY = 'the seal key of a test of backups, kept apart too';
const environment = { VAULT_KEY, SEAL_KEY };
const SPACES = '/api/v1/core/spaces';

const root = mkdtempSync(join(tmpdir(), 'backup-erasing-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a backup and an export that are made while much is erased verify, and bring back whole Spaces or none of them', async () => {
  const first = await startTestPlatform({ environment });
  const words = Array.from({ length: 24 }, (_, n) => `Quill${String.fromCharCode(97 + n)}branth`);
  const ids = await Promise.all(
    words.map(async (name) => (await first.call<{ id: string }>(SPACES, { method: 'POST', body: { name } })).body.id),
  );
  const remove = async (): Promise<void> => {
    for (const id of ids) expect((await first.call(`${SPACES}/${id}`, { method: 'DELETE' })).status).toBeLessThan(300);
  };
  const copy = async (name: string): Promise<void> => {
    const [folder, keysFile] = [join(root, name), join(root, `keys-${name}`)];
    await backup({ dataFolder: first.dataDir, folder, keysFile, clock: systemClock });
  };
  const log = await openLogReader(readConfig({ DATA_DIR: first.dataDir }));
  const { publicKey } = first.platform.host.sealKey;
  const exported = join(root, 'log.jsonl');
  await until(() => first.platform.host.sealer.ordinal > 0, 'the first seal');
  const removing = remove();
  for (let n = 0; n < 3; n += 1) {
    await copy(`copy-${n}`);
    await exportLog(log, exported, { publicKey, clock: systemClock });
    expect(await verifyExport(exported, { publicKeys: [publicKey] })).toMatchObject({ ok: true, findings: [] });
  }
  await removing;
  await until(async () => wordsUnder(first.dataDir, words).length === 0, 'the erasure');
  await log.close();
  await first.stop();

  for (let n = 0; n < 3; n += 1) {
    const dataFolder = join(root, `restored-${n}`);
    await restore({
      folder: join(root, `copy-${n}`),
      keysFile: join(root, `keys-copy-${n}`),
      vaultKey: VAULT_KEY,
      dataFolder,
    });
    const restored = await startTestPlatform({ environment, dataDir: dataFolder });
    const shown = async () =>
      Promise.all(
        ids.map(async (id, place) => {
          const { status, body } = await restored.call<{ name?: string }>(`${SPACES}/${id}`);
          return [status, status === 200 ? body.name === words[place] : true];
        }),
      );
    await until(async () => (await shown()).every(([, isWhole]) => isWhole === true), 'whole Spaces or none');
    const statuses = (await shown()).map(([status]) => status);
    const gone = words.filter((_, place) => statuses[place] === 404);
    await until(async () => wordsUnder(dataFolder, gone).length === 0, 'the erasure of what the copy knows as deleted');
    await restored.stop({ keep: true });
    expect((await verifyFolder(dataFolder, { publicKeys: [publicKey] })).findings).toEqual([]);
  }
}, 180_000);
