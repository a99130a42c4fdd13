import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { ownTime } from '../../../../test/fixtures/own-time';
import type { Vault } from '../vault';
import { vaultContract } from '../vault.contract';
import { openSqliteVault } from './sqlite-vault';
import { vaultFile } from './vault-database';

const SECRET = 'a secret of at least thirty-two characters';

const setUp = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vault-'));
  const clock = new FixedClock();
  const opened: Vault[] = [];
  return {
    folder,
    clock,
    open: async () => {
      const vault = await openSqliteVault({ folder, wrappingKey: SECRET, clock });
      opened.push(vault);
      return vault;
    },
    openOther: async (wrappingKey = SECRET) => {
      const vault = await openSqliteVault({ folder: join(folder, 'other'), wrappingKey, clock });
      opened.push(vault);
      return vault;
    },
    end: async () => {
      await Promise.all(opened.map((vault) => vault.close()));
      rmSync(folder, { recursive: true });
    },
  };
};

const bytesOf = (folder: string): Buffer =>
  Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

describe('SqliteVault', () => {
  vaultContract(setUp);
});

describe('The file of a SqliteVault', () => {
  let test: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    test = await setUp();
  });
  afterEach(() => test.end());

  it('never stores a key as it is', async () => {
    const key = await (await test.open()).ensureKey('document-1', {});
    expect(bytesOf(test.folder).includes(key)).toBe(false);
  });

  it('leaves no trace of a destroyed key in its files, not even wrapped, however keys stood side by side', async () => {
    const vault = await test.open();
    const streams = Array.from({ length: 600 }, (_, index) => `document-${(index * 7919) % 600}`);
    await Promise.all(streams.map((stream, index) => vault.ensureKey(stream, { spaceId: `s${index % 3}` })));
    const database = new Database(vaultFile(test.folder), { readonly: true });
    const wrapped = database.prepare('SELECT wrapped FROM keys WHERE space_id <> ?').pluck().all('s2') as Buffer[];
    database.close();
    expect(bytesOf(test.folder).includes(wrapped[0] as Buffer)).toBe(true);
    for (const stream of await vault.streams({ spaceId: 's0' })) await vault.destroy({ stream });
    await vault.destroy({ spaceId: 's1' });
    const left = bytesOf(test.folder);
    expect(wrapped).toHaveLength(400);
    expect(wrapped.filter((key) => left.includes(key.subarray(12, 44)))).toEqual([]);
  });

  it('is not written where what is destroyed was destroyed before', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    await vault.ensureKey('document-1/page', {});
    await vault.destroy({ stream: 'document-1' });
    const { mtimeNs } = statSync(vaultFile(test.folder), { bigint: true });
    expect(await vault.destroy({ stream: 'document-1' })).toEqual(['document-1']);
    expect(await vault.destroy({ stream: 'document-1/page' })).toEqual(['document-1/page']);
    expect(statSync(vaultFile(test.folder), { bigint: true }).mtimeNs).toBe(mtimeNs);
  });

  it('is reported by health while it cannot be written, and no longer once it can, though nobody writes', async () => {
    await (await test.open()).close();
    const vault = await test.open();
    expect(await vault.health()).toEqual({ ok: true });
    // What the thread finds in the place of the vault at its first write.
    renameSync(test.folder, `${test.folder}.away`);
    writeFileSync(test.folder, 'no folder');
    await expect(vault.ensureKey('document-1', {})).rejects.toMatchObject({ name: 'Unavailable' });
    expect(await vault.health()).toEqual({ ok: false, reason: expect.any(String) });
    rmSync(test.folder);
    renameSync(`${test.folder}.away`, test.folder);
    expect(await vault.health()).toEqual({ ok: true });
    expect(await vault.ensureKey('document-1', {})).toHaveLength(32);
  });

  it('says that VAULT_KEY is wrong when it is opened with another', async () => {
    await test.open();
    await expect(openSqliteVault({ folder: test.folder, wrappingKey: `${SECRET}.` })).rejects.toThrow(
      /VAULT_KEY is not the key that the vault in .* was made with/,
    );
  });

  it('rejects a wrapped key that was moved to another stream', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    await vault.ensureKey('document-2', {});
    const database = new Database(vaultFile(test.folder));
    database.exec(
      `UPDATE keys SET wrapped = (SELECT wrapped FROM keys WHERE thing = 'document-1') WHERE thing = 'document-2'`,
    );
    database.close();
    await expect((await test.open()).keys(['document-2'])).rejects.toThrow(
      'the key of document-2 in the vault is damaged',
    );
  });

  it('says that it is unavailable when its file cannot be written', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    const damage = new Database(vaultFile(test.folder));
    damage.exec('DROP TABLE destroyed_owners');
    damage.close();
    await expect(vault.ensureKey('document-2', {})).rejects.toMatchObject({ name: 'Unavailable', dependency: 'vault' });
  });

  it('confirms a destruction only when the key is gone, also after its thread did not open at first', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    await vault.close();
    const again = await test.open();
    // What the thread finds in the place of the vault at its first write.
    renameSync(test.folder, `${test.folder}.away`);
    writeFileSync(test.folder, 'no folder');
    await expect(again.ensureKey('document-2', {})).rejects.toMatchObject({ name: 'Unavailable', dependency: 'vault' });
    rmSync(test.folder);
    renameSync(`${test.folder}.away`, test.folder);
    const database = new Database(vaultFile(test.folder), { readonly: true });
    const stands = database.prepare('SELECT wrapped <> zeroblob(60) FROM keys WHERE thing = ?').pluck();
    // The second thread works on this when the first one ends; it is asked on before its answer arrives.
    await again
      .ensureKey('document-3', {})
      .catch((error: unknown) => expect(error).toMatchObject({ name: 'Unavailable' }));
    for (const deadline = performance.now() + 10_000; stands.get('document-3') !== 1 && performance.now() < deadline;);
    await again.destroy({ stream: 'document-1' });
    expect([stands.get('document-3'), stands.get('document-1')]).toEqual([1, 0]);
    database.close();
  });

  it('makes keys while a destruction waits for a reader of older pages, and leaves none of these behind', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    const reader = new Database(vaultFile(test.folder), { readonly: true });
    const wrapped = reader.prepare('SELECT wrapped FROM keys').pluck().get() as Buffer;
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM keys').get();
    let destroyed = false;
    const destruction = vault.destroy({ stream: 'document-1' }).then(() => (destroyed = true));
    for (let n = 0; n < 20; n += 1) {
      const took = ownTime();
      await vault.ensureKey(`another-${n}`, {});
      expect(took()).toBeLessThan(4_000);
    }
    expect(destroyed).toBe(false);
    expect(bytesOf(test.folder).includes(wrapped.subarray(12, 44))).toBe(true);
    reader.exec('COMMIT');
    reader.close();
    await destruction;
    expect(bytesOf(test.folder).includes(wrapped.subarray(12, 44))).toBe(false);
  });

  it('leaves no trace of a key that another vault knows to be destroyed', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    const database = new Database(vaultFile(test.folder), { readonly: true });
    const wrapped = database.prepare('SELECT wrapped FROM keys').pluck().get() as Buffer;
    database.close();
    await vault.merge([
      { kind: 'destroyed', stream: 'document-1', at: '2026-01-01T00:00:00.000Z', cause: 'thing:document-1' },
    ]);
    expect(bytesOf(test.folder).includes(wrapped.subarray(12, 44))).toBe(false);
  });
});
