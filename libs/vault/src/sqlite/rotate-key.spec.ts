import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { rotateVaultKey } from './rotate-key';
import { openSqliteVault } from './sqlite-vault';
import { vaultFile } from './vault-database';

const [OLD, NEW] = ['the old key of at least thirty-two characters', 'the new key of at least thirty-two characters'];
const KEYS = 2_500;

let folder: string;
let keys: ReadonlyMap<string, Buffer>;
const streams = Array.from({ length: KEYS }, (_, index) => `document-${index}`);
const keysUnder = async (wrappingKey: string) => {
  const vault = await openSqliteVault({ folder, wrappingKey });
  try {
    return await vault.keys(streams);
  } finally {
    await vault.close();
  }
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rotate-'));
  const vault = await openSqliteVault({ folder, wrappingKey: OLD });
  await Promise.all(streams.map((stream) => vault.ensureKey(stream, {})));
  await vault.destroy({ stream: 'document-7' });
  keys = await vault.keys(streams);
  await vault.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('keys are the same under the new one, none under the old, and what was destroyed stays so', async () => {
  expect(rotateVaultKey({ folder, from: OLD, to: NEW })).toBe(KEYS - 1);
  expect(await keysUnder(NEW)).toEqual(keys);
  await expect(keysUnder(OLD)).rejects.toMatchObject({ name: 'WrongVaultKey' });
  expect(() => rotateVaultKey({ folder, from: OLD, to: NEW })).toThrow('VAULT_KEY is not the key that');
});

test('nothing that was wrapped under the old key is left on the disk', () => {
  const database = new Database(vaultFile(folder), { readonly: true });
  const old = database.prepare('SELECT wrapped FROM keys WHERE id % 100 = 1').pluck().all() as Buffer[];
  database.close();
  rotateVaultKey({ folder, from: OLD, to: NEW });
  const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
  expect(old.filter((wrapped) => bytes.includes(wrapped))).toEqual([]);
});

test('a key that cannot be unwrapped changes nothing', async () => {
  const database = new Database(vaultFile(folder));
  database.prepare(`UPDATE keys SET thing = 'document-x' WHERE thing = 'document-2400'`).run();
  database.close();
  const copy = mkdtempSync(join(tmpdir(), 'rotate-'));
  cpSync(folder, copy, { recursive: true });
  expect(() => rotateVaultKey({ folder: copy, from: OLD, to: NEW })).toThrow('the key of document-x');
  rmSync(copy, { recursive: true });
  expect(() => rotateVaultKey({ folder, from: OLD, to: NEW })).toThrow('the key of document-x');
  expect((await keysUnder(OLD)).size).toBe(KEYS - 2);
});
