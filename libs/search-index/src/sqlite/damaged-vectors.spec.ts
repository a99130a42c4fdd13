import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { direction, passage, putDocument, TestIndex } from '../test-index.contract';
import { openSqliteSearchIndex } from './sqlite-search-index';

const FILE = 'passages-v1.sqlite';

/** Overwrites the pages of the stored vectors alone: the tables beside them stay whole. */
const damageVectors = async (file: string): Promise<void> => {
  const db = new Database(file, { readonly: true });
  const size = db.pragma('page_size', { simple: true }) as number;
  const pages = db.prepare("select pageno from dbstat where name = 'vectors'").pluck().all() as readonly number[];
  db.close();
  expect(pages.length).toBeGreaterThan(0);
  const handle = await open(file, 'r+');
  for (const page of pages) await handle.write(Buffer.alloc(size, 0xa5), 0, size, (page - 1) * size);
  await handle.close();
};

/** Writes other bytes into the rows. */
const putBytes = (bytes: string) => async (file: string) => {
  const db = new Database(file);
  db.exec(`update vectors set vector = x'${bytes}'`);
  db.close();
};

it.each([
  ['pages', damageVectors],
  ['lengths', putBytes('0000803f')],
  ['numbers', putBytes('0000')],
])('vectors whose %s are damaged are damage of their file', async (_, damage) => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'));
  const made = await openSqliteSearchIndex({ folder, inThread: true });
  await made.prepare('passages', 1);
  await made.swap('passages', undefined, 1);
  await new TestIndex('passages', made).apply([putDocument('d1', [passage('c1', 'A.', { vector: direction(1) })])]);
  await made.close();
  await damage(join(folder, FILE));
  const index = await openSqliteSearchIndex({ folder, inThread: true });
  const tested = new TestIndex('passages', index);

  expect(await index.health()).toEqual({ ok: true });
  await expect(tested.search('', { mode: 'vector', vector: { model: 'small', values: direction(1) } })).rejects.toThrow(
    `${FILE} is damaged`,
  );
  expect(await index.health()).toMatchObject({ ok: false });
  expect(await index.damaged?.()).toEqual([expect.objectContaining({ version: 1 })]);

  await index.close();
  expect(statSync(join(folder, FILE)).size).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
});
