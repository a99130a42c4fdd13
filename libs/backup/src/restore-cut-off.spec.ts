import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteVault } from '@app/vault';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { backup } from './backup';
import { restore } from './restore';

const VAULT_KEY = 'a vault key of at least thirty-two characters';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'cut-off-'))));
afterEach(() => rmSync(root, { recursive: true }));

test('takes no log and no keys that are cut off anywhere, nor the log of another backup, and writes nothing then', async () => {
  const [dataFolder, folder, target] = ['data', 'backup', 'restored'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const keysFile = join(root, 'keys.sqlite');
  mkdirSync(dataFolder);
  const written = await SealedLog.open(dataFolder);
  const vault = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
  await vault.ensureKey('document-1', {});
  await written.note('document-1', 'a', 'b');
  await written.seal();
  await backup({ dataFolder, folder, keysFile, clock: new FixedClock() });
  await written.note('document-1', 'c');
  const later = join(root, 'later');
  await backup({ dataFolder, folder: later, clock: new FixedClock() });
  await Promise.all([written.close(), vault.close()]);

  // As an earlier version wrote it, without hashes.
  for (const made of [folder, later]) {
    const manifest = join(made, 'manifest.json');
    const { listing: _, ...before } = JSON.parse(readFileSync(manifest, 'utf8')) as { listing: unknown };
    writeFileSync(manifest, JSON.stringify({ ...before, version: 1 }));
    rmSync(join(made, 'files.jsonl'));
  }
  const bringBack = () => restore({ folder, keysFile, vaultKey: VAULT_KEY, dataFolder: target });
  const log = join(folder, 'log', 'events.sqlite');
  for (const [file, message] of [
    [log, /its log cannot be read/],
    [keysFile, /is damaged, or no file of keys/],
  ] as const) {
    const whole = readFileSync(file);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      writeFileSync(file, whole.subarray(0, Math.floor((whole.length * tenth) / 10)));
      await expect(bringBack()).rejects.toThrow(message);
      expect([tenth, existsSync(join(target, 'vault'))]).toEqual([tenth, false]);
    }
    writeFileSync(file, whole);
  }
  const whole = readFileSync(log);
  writeFileSync(log, readFileSync(join(later, 'log', 'events.sqlite')));
  await expect(bringBack()).rejects.toThrow('its log ends elsewhere than');
  writeFileSync(log, whole);
  expect(await bringBack()).toMatchObject({ check: { hasHashes: false, findings: [] } });
});
