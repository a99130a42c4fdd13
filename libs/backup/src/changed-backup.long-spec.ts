import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openFileBlobs } from '@app/blobs';
import { openSqliteVault } from '@app/vault';
import Database from 'better-sqlite3';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { SealedLog } from '../../../test/fixtures/sealed-log';
import { backup } from './backup';
import { BackupChanged, type BackupCheck, checkBackup } from './check';
import { restore } from './restore';

const VAULT_KEY = 'a vault key of at least thirty-two characters';

/** A backup of a log with notes, of two files and of two keys. */
describe('a backup that was changed', () => {
  let root: string;
  let names: string[];
  const folder = () => join(root, 'backup');
  const keysFile = () => join(root, 'keys.sqlite');
  const target = () => join(root, 'restored');
  const bodyOf = (name: string) => join(folder(), 'blobs', name.slice(0, 2), name);
  const pathOf = (name = '') => `blobs/${name.slice(0, 2)}/${name}`;
  const bringBack = (force = false) =>
    restore({ folder: folder(), keysFile: keysFile(), vaultKey: VAULT_KEY, dataFolder: target(), force });
  const check = () => checkBackup({ folder: folder(), keysFile: keysFile(), vaultKey: VAULT_KEY });
  const rejected = async (): Promise<BackupCheck> => {
    const error: unknown = await bringBack().then(
      () => new Error('it was restored'),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof BackupChanged)) throw error as Error;
    return error.check;
  };
  const flip = (file: string, at = 100) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.with(at, (bytes[at] as number) ^ 1));
  };

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'changed-backup-'));
    const dataFolder = join(root, 'data');
    mkdirSync(dataFolder);
    const log = await SealedLog.open(dataFolder);
    const vault = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
    const blobs = await openFileBlobs({ folder: join(dataFolder, 'blobs'), vault });
    const puts = ['document-1', 'document-2'].map((stream) => blobs.put(stream, Buffer.alloc(500, stream), {}));
    names = (await Promise.all(puts)).map(({ name }) => name).toSorted();
    await log.note('document-1', 'a', 'b');
    await log.seal();
    await backup({ dataFolder, folder: folder(), keysFile: keysFile(), clock: new FixedClock() });
    await Promise.all([log.close(), vault.close()]);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is sound where nothing was, with the hash of every file', async () => {
    const heard: number[] = [];
    const { findings, manifest, keys } = await checkBackup({
      folder: folder(),
      keysFile: keysFile(),
      vaultKey: VAULT_KEY,
      onBytes: ({ done, total }) => heard.push(done / total),
    });
    expect([findings, keys]).toEqual([[], { hasDigest: true, damaged: 0 }]);
    expect(manifest).toMatchObject({ version: 2, listing: { files: 3 } });
    expect(heard.at(-1)).toBe(1);
    // A file of gigabytes shows progress too, of which the log is one.
    appendFileSync(bodyOf(names[0] ?? ''), Buffer.alloc(1 << 20));
    heard.length = 0;
    await checkBackup({ folder: folder(), onBytes: ({ done }) => heard.push(done) });
    expect(heard.length).toBeGreaterThan(5);
  });

  it.each([
    ['a file that lost a bit', 'changed', () => flip(bodyOf(names[0] ?? ''))],
    ['a file that was cut off', 'changed', () => truncateSync(bodyOf(names[0] ?? ''), 20)],
    ['a file that is gone', 'missing', () => rmSync(bodyOf(names[0] ?? ''))],
    [
      'a file that cannot be read',
      'unreadable',
      () => {
        rmSync(bodyOf(names[0] ?? ''));
        mkdirSync(bodyOf(names[0] ?? ''));
      },
    ],
  ])('says so before it writes anything: %s', async (_, kind, change) => {
    change();
    expect((await rejected()).findings).toEqual([
      { kind, path: pathOf(names[0]), detail: expect.any(String) as string },
    ]);
    expect(['vault', 'blobs', 'log/restored.sqlite'].filter((name) => existsSync(join(target(), name)))).toEqual([]);
  });

  it('says so of the log, of files that came later, and of the list itself', async () => {
    // In a folder of its own, and beside a file that was backed up.
    const strangers = ['f'.repeat(32), `${names[0]?.slice(0, 2)}${'f'.repeat(30)}`];
    for (const stranger of strangers) {
      mkdirSync(dirname(bodyOf(stranger)), { recursive: true });
      writeFileSync(bodyOf(stranger), 'of another');
    }
    const log = join(folder(), 'log', 'events.sqlite');
    flip(log, readFileSync(log).length - 10);
    expect((await rejected()).findings.map(({ kind, path }) => [kind, path])).toEqual(
      expect.arrayContaining([
        ['changed', 'log/events.sqlite'],
        ...strangers.map((stranger) => ['unlisted', pathOf(stranger)]),
      ]),
    );
    appendFileSync(join(folder(), 'files.jsonl'), '\n');
    expect((await rejected()).findings.map(({ kind, path }) => [kind, path])).toEqual([['changed', 'files.jsonl']]);
  });

  it('says so of keys, of tombstones too, and how many do not open', async () => {
    const keys = new Database(keysFile());
    keys.prepare("UPDATE keys SET wrapped = randomblob(60) WHERE thing = 'document-1'").run();
    keys.close();
    expect(await rejected()).toMatchObject({
      findings: [{ kind: 'changed', path: keysFile() }],
      keys: { hasDigest: true, damaged: 1 },
    });
  });

  it('restores keys of an earlier version, and says that they cannot be checked', async () => {
    const keys = new Database(keysFile());
    keys.prepare("DELETE FROM vault WHERE name = 'digest'").run();
    keys.close();
    expect((await bringBack()).check.keys).toEqual({ hasDigest: false, damaged: 0 });
  });

  it('restores what is left of it where that is asked for, and says what is not', async () => {
    const [first = '', second = ''] = names;
    rmSync(bodyOf(first));
    mkdirSync(bodyOf(first));
    flip(bodyOf(second));
    const { check: found } = await bringBack(true);
    expect(found.findings.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'unreadable']);
    expect(existsSync(join(target(), 'log', 'events.sqlite'))).toBe(true);
    expect(existsSync(join(target(), pathOf(second)))).toBe(true);
  });

  it('does not take for restored what lies in the target under the name of a file and is another', async () => {
    const at = join(target(), pathOf(names[0]));
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, 'half of it');
    await bringBack();
    expect(readFileSync(at)).toEqual(readFileSync(bodyOf(names[0] ?? '')));
    expect((await check()).findings).toEqual([]);
  });
});
