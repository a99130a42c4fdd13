import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Blobs, openFileBlobs } from '@app/blobs';
import { openSqliteVault, type Vault } from '@app/vault';
import { fillWith, tinyFileSystem } from '../../../test/faults/log/small-disk';
import { IntermittentServer } from '../../../test/fixtures/intermittent-server';
import { carryBlobs } from './carry-blobs';
import { exportKeys, importKeys } from './keys-file';

const SECRET = 'a secret of at least thirty-two characters';

describe('moving keys and blobs', () => {
  let folder: string;
  let vaults: Vault[];
  let file: string;
  const openVault = async (name: string, wrappingKey = SECRET): Promise<Vault> => {
    const vault = await openSqliteVault({ folder: join(folder, name), wrappingKey });
    vaults.push(vault);
    return vault;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'moving-'));
    file = join(folder, 'keys.jsonl');
    vaults = [];
  });
  afterEach(async () => {
    await Promise.all(vaults.map((vault) => vault.close()));
    rmSync(folder, { recursive: true });
  });

  const filled = async (): Promise<Vault> => {
    const vault = await openVault('from');
    await Promise.all(
      Array.from({ length: 1_200 }, (_, index) => vault.ensureKey(`document-${index}`, { spaceId: `s${index % 3}` })),
    );
    await vault.destroy({ spaceId: 's2' });
    return vault;
  };

  it('carries every key in a file that only its owner may read, and nothing in the clear', async () => {
    const from = await filled();
    expect(await exportKeys(from, file)).toEqual({ keys: 800 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const to = await openVault('to');
    for (let times = 0; times < 2; times += 1) expect(await importKeys(file, to)).toEqual({ keys: 800, erased: 0 });
    const streams = Array.from({ length: 1_200 }, (_, index) => `document-${index}`);
    const keys = await from.keys(streams);
    expect(await to.keys(streams)).toEqual(keys);
    expect(keys.size).toBe(800);
    const bytes = readFileSync(file);
    for (const key of keys.values()) expect(bytes.includes(key.toString('base64')) || bytes.includes(key)).toBe(false);
  });

  it('names the file of keys where its disk is full, and leaves nothing there', async () => {
    const from = await filled();
    const disk = tinyFileSystem(folder);
    if (disk === undefined) return console.warn('not run, since this machine does not allow a small file system');
    try {
      fillWith(disk.ballast);
      await expect(exportKeys(from, disk.folder)).rejects.toThrow(`${disk.folder} cannot be written: ENOSPC`);
      expect([disk.folder, `${disk.folder}.unfinished`].filter(existsSync)).toEqual([]);
    } finally {
      disk.dispose();
    }
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, text.length / 2)],
    ['changed', (text: string) => text.replace('document-7"', 'document-8"')],
    ['shortened by a line', (text: string) => text.split('\n').toSpliced(5, 1).join('\n')],
    ['of another kind', () => '{"format":"agent-platform/export"}\n{}\n'],
  ])('takes nothing from a file that was %s', async (_, change) => {
    await exportKeys(await filled(), file);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const to = await openVault('to');
    await expect(importKeys(file, to)).rejects.toMatchObject({ name: 'BackupError' });
    expect(await to.streams({ spaceId: 's0' })).toEqual([]);
  });

  it('waits for a vault that goes away, and carries every key once', async () => {
    const from = await filled();
    await exportKeys(from, file);
    const server = new IntermittentServer(new Set([2, 3]));
    const to = await openVault('to');
    expect(await importKeys(file, server.of(to, ['merge']), { warn: server.warn })).toEqual({ keys: 800, erased: 0 });
    expect(server.waited).toBe(2);
    const streams = Array.from({ length: 1_200 }, (_, index) => `document-${index}`);
    expect(await to.keys(streams)).toEqual(await from.keys(streams));
  });

  it('takes no keys of another VAULT_KEY', async () => {
    await exportKeys(await filled(), file);
    await expect(importKeys(file, await openVault('to', `${SECRET}, changed`))).rejects.toMatchObject({
      name: 'WrongVaultKey',
    });
  });

  describe('of blobs', () => {
    let from: Blobs;
    let to: Blobs;
    let names: string[];
    beforeEach(async () => {
      const vault = await openVault('from');
      from = await openFileBlobs({ folder: join(folder, 'blobs'), vault });
      to = await openFileBlobs({ folder: join(folder, 'others'), vault });
      names = await Promise.all(
        Array.from(
          { length: 20 },
          async (_, index) => (await from.put('document-1', Buffer.from(`body ${index}`), {})).name,
        ),
      );
    });

    it('goes on where it was interrupted, and leaves both equal', async () => {
      let left = 5;
      const writes: Promise<unknown>[] = [];
      const dying: Blobs = {
        ...bound(to),
        writeStored: (name, stored) => {
          const write = left-- > 0 ? to.writeStored(name, stored) : Promise.reject(new Error('died'));
          writes.push(write);
          return write;
        },
      };
      await expect(carryBlobs(from, dying)).rejects.toThrow('died');
      // Those under way end before it is begun again, as they do where a process dies.
      await Promise.allSettled(writes);
      expect(await carryBlobs(from, to)).toEqual({ blobs: 20, carried: 15 });
      expect(await to.list(null, 100)).toEqual(names.toSorted());
      expect((await to.get('document-1', names[3] ?? ''))?.toString()).toBe('body 3');
    });

    it('waits for stores that go away', async () => {
      const [server, another] = [
        new IntermittentServer(new Set([1, 2, 7])),
        new IntermittentServer(new Set([1, 6, 11])),
      ];
      const outcome = carryBlobs(
        server.of(from, ['list', 'readStored']),
        another.of(to, ['readStored', 'writeStored']),
        undefined,
        {
          warn: () => {
            server.warn();
            another.warn();
          },
        },
      );
      expect(await outcome).toEqual({ blobs: 20, carried: 20 });
      for (const name of names) expect(await to.readStored(name)).toEqual(await from.readStored(name));
    });

    it('says which body is another in the other store', async () => {
      await to.writeStored(names[0] ?? '', Buffer.from('something else'));
      await expect(carryBlobs(from, to)).rejects.toThrow(`blob ${names[0]} differs between the stores`);
    });
  });
});

const bound = (blobs: Blobs): Blobs => ({
  put: (...given) => blobs.put(...given),
  open: (...given) => blobs.open(...given),
  get: (...given) => blobs.get(...given),
  remove: (...given) => blobs.remove(...given),
  list: (...given) => blobs.list(...given),
  group: () => blobs.group(),
  haveAll: (...given) => blobs.haveAll(...given),
  storedAt: (...given) => blobs.storedAt(...given),
  readStored: (...given) => blobs.readStored(...given),
  writeStored: (...given) => blobs.writeStored(...given),
  health: () => blobs.health(),
});
