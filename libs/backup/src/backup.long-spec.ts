import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Blobs, openFileBlobs } from '@app/blobs';
import { openSqliteEventLog } from '@app/event-log';
import { parseKnownSeal } from '@app/sealing';
import { openSqliteVault, type Vault } from '@app/vault';
import { fillWith, tinyFileSystem } from '../../../test/faults/log/small-disk';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { SealedLog, verifyFolder } from '../../../test/fixtures/sealed-log';
import { backup } from './backup';
import { restore } from './restore';

const VAULT_KEY = 'a vault key of at least thirty-two characters';

describe('backup and restore', () => {
  let root: string;
  let test: SealedLog;
  let vault: Vault;
  let blobs: Blobs;
  let dataFolder: string;
  const folder = () => join(root, 'backup');
  const keysFile = () => join(root, 'keys.sqlite');
  const target = () => join(root, 'restored');
  const backUp = () => backup({ dataFolder, folder: folder(), keysFile: keysFile(), clock: new FixedClock() });
  const bringBack = (given: Partial<Parameters<typeof restore>[0]> = {}) =>
    restore({ folder: folder(), keysFile: keysFile(), vaultKey: VAULT_KEY, dataFolder: target(), ...given });

  /** A running instance: a log that is open and sealed, keys, and a blob. */
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'backup-'));
    dataFolder = join(root, 'data');
    mkdirSync(dataFolder);
    test = await SealedLog.open(dataFolder);
    vault = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
    blobs = await openFileBlobs({ folder: join(dataFolder, 'blobs'), vault });
    await test.note('document-1', 'a', 'b');
    await test.seal();
  });
  afterEach(async () => {
    await Promise.all([test.close(), vault.close()]);
    rmSync(root, { recursive: true });
  });

  const readRestored = async <T>(
    work: (parts: { vault: Vault; blobs: Blobs; log: SealedLog }) => Promise<T>,
  ): Promise<T> => {
    const log = await SealedLog.open(target());
    const restored = await openSqliteVault({ folder: join(target(), 'vault'), wrappingKey: VAULT_KEY });
    try {
      return await work({
        log,
        vault: restored,
        blobs: await openFileBlobs({ folder: join(target(), 'blobs'), vault: restored }),
      });
    } finally {
      await Promise.all([log.close(), restored.close()]);
    }
  };

  it('brings back log, blobs and keys of an instance that ran and was written to meanwhile', async () => {
    const { name } = await blobs.put('document-1', Buffer.from('the file'), { spaceId: 's1' });
    let running = true;
    const writing = (async () => {
      for (let count = 0; running; count += 1) await test.note(`document-${count % 5}`, `note ${count}`);
    })();
    const manifest = await backUp();
    running = false;
    await writing;
    expect(await bringBack()).toMatchObject({ check: { manifest, hasHashes: true, findings: [] }, erased: 0 });
    const since = parseKnownSeal(manifest.lastSeal ?? '');
    expect(await verifyFolder(target(), { publicKeys: [test.key.publicKey], since })).toMatchObject({
      ok: true,
      events: 2,
    });
    await readRestored(async ({ log, ...restored }) => {
      const events = await log.events();
      expect(events.length).toBeGreaterThanOrEqual(3);
      expect(events).toEqual((await test.events()).slice(0, events.length));
      expect(events.at(-1)?.position).toBe(manifest.head);
      expect((await restored.blobs.get('document-1', name))?.toString()).toBe('the file');
      await log.note('document-1', 'goes on');
    });
  });

  it('keeps every key out of the backup, and wrapped in the file apart', async () => {
    const key = await vault.ensureKey('document-1', {});
    await blobs.put('document-1', Buffer.from('the file'), {});
    await backUp();
    expect(statSync(keysFile()).mode & 0o777).toBe(0o600);
    const source = new Database(keysFile(), { readonly: true });
    const wrapped = source.prepare('SELECT wrapped FROM keys').pluck().get() as Buffer;
    source.close();
    const bytes = Buffer.concat(
      readdirSync(folder(), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
    );
    expect([
      bytes.includes(wrapped),
      bytes.includes(key),
      readFileSync(keysFile()).includes(key),
      bytes.includes('the file'),
    ]).toEqual([false, false, false, false]);
    await expect(bringBack({ vaultKey: `${VAULT_KEY}!` })).rejects.toThrow('VAULT_KEY is not the key that');
  });

  it('keeps erased what was erased after the backup, where the vault is still at hand', async () => {
    const { name } = await blobs.put('document-1', Buffer.from('the file'), { spaceId: 's1' });
    const second = await blobs.put('document-2', Buffer.from('another'), { spaceId: 's2' });
    const third = await blobs.put('document-3', Buffer.from('a third'), { spaceId: 's3' });
    await backUp();
    await vault.destroy({ stream: 'document-1' });
    await vault.destroy({ spaceId: 's3' });
    await Promise.all([test.close(), vault.close()]);
    for (const lost of ['log', 'blobs']) rmSync(join(dataFolder, lost), { recursive: true });
    expect(await bringBack({ dataFolder })).toMatchObject({ erased: 2 });
    const again = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
    const bodies = await openFileBlobs({ folder: join(dataFolder, 'blobs'), vault: again });
    expect([
      await bodies.get('document-1', name),
      (await bodies.get('document-2', second.name))?.toString(),
      await bodies.get('document-3', third.name),
    ]).toEqual([undefined, 'another', undefined]);
    await again.close();
    test = await SealedLog.open(dataFolder);
    vault = await openSqliteVault({ folder: join(dataFolder, 'vault'), wrappingKey: VAULT_KEY });
  });

  it('keeps erased what was erased before the backup', async () => {
    await vault.ensureKey('document-1', {});
    await vault.destroy({ stream: 'document-1' });
    await backUp();
    expect(await bringBack()).toMatchObject({ erased: 0 });
    await readRestored(async (restored) => {
      await expect(restored.vault.ensureKey('document-1', {})).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  it('rejects to restore where a server runs, or something lies, or from half a backup', async () => {
    await backUp();
    await expect(bringBack({ dataFolder })).rejects.toMatchObject({ name: 'LogInUse' });
    await bringBack();
    await expect(bringBack()).rejects.toThrow('is not empty: it holds log/events.sqlite');
    mkdirSync(join(root, 'other', 'views'), { recursive: true });
    writeFileSync(join(root, 'other', 'views', 'agents-v1.sqlite'), 'x');
    await expect(bringBack({ dataFolder: join(root, 'other') })).rejects.toThrow('it holds views/agents-v1.sqlite');
    await expect(bringBack({ dataFolder: join(root, 'new'), keysFile: join(root, 'none') })).rejects.toThrow(
      'does not exist',
    );
    rmSync(join(folder(), 'manifest.json'));
    await expect(bringBack({ dataFolder: join(root, 'new') })).rejects.toThrow('is not a complete backup');
    writeFileSync(join(folder(), 'manifest.json'), '{"format":');
    await expect(bringBack({ dataFolder: join(root, 'new') })).rejects.toThrow('its manifest.json is damaged');
    expect(existsSync(join(root, 'new', 'log', 'events.sqlite'))).toBe(false);
  });

  it.each(['events.sqlite-wal', 'events.sqlite-shm', 'head'])(
    'rejects to restore beside what another log left: %s',
    async (name) => {
      await backUp();
      mkdirSync(join(target(), 'log'), { recursive: true });
      writeFileSync(join(target(), 'log', name), 'x');
      await expect(bringBack()).rejects.toThrow(`it holds log/${name}`);
      rmSync(join(target(), 'log', name));
      await bringBack();
    },
  );

  it('leaves nothing behind that stops a start where the VAULT_KEY is wrong', async () => {
    await backUp();
    await expect(bringBack({ vaultKey: 'another key, as long as it has to be' })).rejects.toMatchObject({
      name: 'WrongVaultKey',
    });
    await (await openSqliteEventLog({ folder: join(target(), 'log') })).close();
  });

  it('restores again after it was interrupted', async () => {
    const { name } = await blobs.put('document-1', Buffer.from('the file'), {});
    await backUp();
    // A folder where the first file is to go.
    const inTheWay = join(target(), 'blobs', name.slice(0, 2), `${name}.unfinished`);
    mkdirSync(inTheWay, { recursive: true });
    await expect(bringBack()).rejects.toThrow();
    await expect(openSqliteEventLog({ folder: join(target(), 'log') })).rejects.toMatchObject({
      name: 'LogUnfinished',
    });
    rmSync(inTheWay, { recursive: true });
    await bringBack();
    await readRestored(async (restored) =>
      expect((await restored.blobs.get('document-1', name))?.toString()).toBe('the file'),
    );
  });

  it('gives a file its name once it is whole, so that one cut off by a kill is copied again', async () => {
    const name = 'ab'.repeat(16);
    const whole = Buffer.alloc(128 << 20, 'x');
    mkdirSync(join(dataFolder, 'blobs', 'ab'), { recursive: true });
    writeFileSync(join(dataFolder, 'blobs', 'ab', name), whole);
    await backUp();
    const copied = join(target(), 'blobs', 'ab', name);
    const sizes = new Set<number>();
    const looking = setInterval(() => existsSync(copied) && sizes.add(statSync(copied).size), 0);
    await bringBack().finally(() => clearInterval(looking));
    expect([...sizes.add(statSync(copied).size)]).toEqual([whole.length]);
  });

  it.each(['a file that cannot be read', 'keys that cannot be copied'])(
    'leaves nothing behind where it fails at %s, so that it can be repeated',
    async (what) => {
      const [at, aside] = [join(dataFolder, 'vault', 'vault.sqlite'), join(root, 'aside')];
      const unreadable = join(dataFolder, 'blobs', 'ab', 'ab'.repeat(16));
      if (what.startsWith('keys')) renameSync(at, aside);
      else mkdirSync(unreadable, { recursive: true });
      for (const isThere of [false, true]) {
        if (isThere) mkdirSync(folder());
        await expect(backUp()).rejects.toThrow(what.startsWith('keys') ? 'cannot be copied' : 'copyfile');
        expect([existsSync(folder()), existsSync(keysFile()), existsSync(`${keysFile()}.unfinished`)]).toEqual([
          isThere,
          false,
          false,
        ]);
        if (isThere) expect(readdirSync(folder())).toEqual([]);
      }
      if (what.startsWith('keys')) renameSync(aside, at);
      else rmSync(unreadable, { recursive: true });
      expect((await backUp()).blobs).toBe(0);
    },
  );

  it('names the copy, not its source, where the disk of the copy is full, and leaves nothing there', async () => {
    const disk = tinyFileSystem(root);
    if (disk === undefined) return console.warn('not run, since this machine does not allow a small file system');
    try {
      fillWith(disk.ballast);
      const made = backup({ dataFolder, folder: disk.folder, clock: new FixedClock() });
      await expect(made).rejects.toThrow(`${join(disk.folder, 'log', 'events.sqlite')} cannot be written: `);
      expect(existsSync(disk.folder)).toBe(false);
    } finally {
      disk.dispose();
    }
  });

  it('says what is wrong where the folder of the backup cannot be made', async () => {
    const made = backup({ dataFolder, folder: '/proc/backup', clock: new FixedClock() });
    await expect(made).rejects.toMatchObject({ syscall: 'mkdir' });
  });

  it('rejects to overwrite a backup or keys, and to keep the keys inside the backup', async () => {
    const clock = new FixedClock();
    await expect(backup({ dataFolder, folder: folder(), keysFile: join(folder(), 'keys'), clock })).rejects.toThrow(
      'keep the keys outside',
    );
    await expect(backup({ dataFolder: join(root, 'nothing'), folder: folder(), clock })).rejects.toThrow(
      'holds no log',
    );
    await backUp();
    await expect(backUp()).rejects.toThrow('is not empty');
    rmSync(join(folder(), 'manifest.json'));
    rmSync(keysFile());
    await expect(backUp()).rejects.toThrow(/holds a backup that did not end: remove it/);
    rmSync(folder(), { recursive: true });
    await backUp();
    await expect(backup({ dataFolder, folder: join(root, 'second'), keysFile: keysFile(), clock })).rejects.toThrow(
      'exists already',
    );
  });
});
