import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { FixedClock } from '@app/kernel';
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

const bytesOf = (folder: string): Buffer => Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

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
    const things = Array.from({ length: 600 }, (_, index) => `document-${(index * 7919) % 600}`);
    await Promise.all(things.map((thing, index) => vault.ensureKey(thing, { spaceId: `s${index % 3}` })));
    const database = new Database(vaultFile(test.folder), { readonly: true });
    const wrapped = database.prepare('SELECT wrapped FROM keys WHERE space_id <> ?').pluck().all('s2') as Buffer[];
    database.close();
    expect(bytesOf(test.folder).includes(wrapped[0] as Buffer)).toBe(true);
    for (const thing of await vault.things({ spaceId: 's0' })) await vault.destroy({ thing });
    await vault.destroy({ spaceId: 's1' });
    const left = bytesOf(test.folder);
    expect(wrapped).toHaveLength(400);
    expect(wrapped.filter((key) => left.includes(key.subarray(12, 44)))).toEqual([]);
  });

  it('says that VAULT_KEY is wrong when it is opened with another', async () => {
    await test.open();
    await expect(openSqliteVault({ folder: test.folder, wrappingKey: `${SECRET}.` })).rejects.toThrow(/VAULT_KEY is not the key that the vault in .* was made with/);
  });

  it('refuses a wrapped key that was moved to another thing', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    await vault.ensureKey('document-2', {});
    const database = new Database(vaultFile(test.folder));
    database.exec(`UPDATE keys SET wrapped = (SELECT wrapped FROM keys WHERE thing = 'document-1') WHERE thing = 'document-2'`);
    database.close();
    await expect((await test.open()).keys(['document-2'])).rejects.toThrow('the key of document-2 in the vault is damaged');
  });

  it('says that it is unavailable when its file cannot be written', async () => {
    const vault = await test.open();
    await vault.ensureKey('document-1', {});
    const damage = new Database(vaultFile(test.folder));
    damage.exec('DROP TABLE destroyed_owners');
    damage.close();
    await expect(vault.ensureKey('document-2', {})).rejects.toMatchObject({ name: 'Unavailable', dependency: 'vault' });
  });
});
