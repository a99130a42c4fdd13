import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteVault, type Vault } from '@app/vault';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { backup, type BackupOptions } from './backup';
import { restore } from './restore';

const VAULT_KEY = 'a vault key of at least thirty-two characters';

describe('backups at once', () => {
  let root: string;
  let test: SealedLog;
  let vault: Vault;
  let dataFolder: string;
  const folder = () => join(root, 'backup');
  const keysFile = () => join(root, 'keys.sqlite');
  const backUp = (given: Partial<BackupOptions> = {}) =>
    backup({ dataFolder, folder: folder(), keysFile: keysFile(), clock: new FixedClock(), ...given });

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'backups-at-once-'));
    dataFolder = join(root, 'data');
    mkdirSync(dataFolder);
    test = await SealedLog.open(dataFolder);
    vault = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
    await test.note('document-1', 'a', 'b');
    await test.seal();
  });
  afterEach(async () => {
    await Promise.all([test.close(), vault.close()]);
    rmSync(root, { recursive: true });
  });

  it.each(['folder', 'file of keys'])(
    'to the same %s: one is whole, the other takes nothing of it away',
    async (what) => {
      const other = what === 'folder' ? folder() : join(root, 'other');
      const both = await Promise.allSettled([backUp(), backUp({ folder: other })]);
      const rejected = both.filter((made) => made.status === 'rejected');
      expect(rejected.map(({ reason }) => String(reason))).toEqual([
        expect.stringMatching(/holds a backup that did not end: remove it, unless it is being made now/),
      ]);
      const whole = both[0].status === 'fulfilled' ? folder() : other;
      const target = join(root, 'restored');
      await restore({ folder: whole, keysFile: keysFile(), vaultKey: VAULT_KEY, dataFolder: target });
      const restored = await SealedLog.open(target);
      try {
        expect(await restored.log.readStream('document-1')).toHaveLength(2);
      } finally {
        await restored.close();
      }
      expect(existsSync(`${keysFile()}.unfinished`)).toBe(false);
    },
  );

  it.each(['fails', 'ends'])(
    'leave the keys that another has put there meanwhile, where the first one %s',
    async (how) => {
      const onProgress = (step: string): void => {
        if (step !== 'log') return;
        writeFileSync(keysFile(), 'of another');
        if (how === 'fails') throw new Error('the disk went away');
      };
      await expect(backUp({ onProgress })).rejects.toThrow(how === 'fails' ? 'went away' : 'exists already');
      expect(readFileSync(keysFile(), 'utf8')).toBe('of another');
      expect(existsSync(folder())).toBe(false);
    },
  );
});
