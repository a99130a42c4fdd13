import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { load } from 'sqlite-vec';
import { direction, passage, putDocument, TestIndex } from '../test-index.contract';
import { openSqliteSearchIndex } from './sqlite-search-index';

const COMMON = `
  create table head(position text, handled integer not null, fence integer not null, loose integer not null);
  insert into head values (null, 0, 0, 0);
  create table scopes(id integer primary key, scope text not null unique);
  create table models(id integer primary key, model text not null, dimensions integer not null, unique (model, dimensions));
  create table documents(id integer primary key, documentId text not null unique, name text not null, scope integer not null references scopes,
    revision integer not null, model text, language text not null);
  create index documents_of_scope on documents(scope);
  create table tags(document integer not null, tagId text not null, primary key (document, tagId)) without rowid;
  create table passages(id integer primary key, document integer not null, ordinal integer not null, chunkId text not null, text text not null,
    headings text not null, "start" integer not null, "end" integer not null, page integer, enabled integer not null, vectors integer references models);
  create index passages_of_document on passages(document, ordinal);`;
const table = (name: string, columns: string) => `
  create virtual table ${name} using fts5(${columns}, scope, tokenize = 'unicode61 remove_diacritics 2');
  insert into ${name}(${name}, rank) values ('secure-delete', 1);`;

const RANGES = `
  alter table scopes add column changed integer not null default 0;
  alter table passages add column slide integer;
  alter table passages add column sheet text;
  alter table passages add column "row" integer;
  create index passage_names on passages(id, document, chunkId);
  create table vectors(id integer primary key, vector blob not null);
  create table codes(document integer not null, model integer not null, scope integer not null, passages blob not null, codes blob not null);
  create index codes_of_document on codes(document);
  create index codes_of_scope on codes(scope, model);
  create virtual table terms using fts5(english, german, tokenize = 'unicode61 remove_diacritics 2');
  create virtual table wholes using fts5(english, german, tokenize = 'unicode61 remove_diacritics 2');`;

const LAYOUTS = {
  'of 1.5.0': COMMON + table('terms', 'body'),
  'with whole documents, before vectors had codes':
    COMMON + table('terms', 'english, german') + table('wholes', 'english, german'),
  'with full-text tables of ranges, before words had lists': COMMON + RANGES,
};

describe.each(Object.entries(LAYOUTS))('an index file %s', (_, sql) => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is searched, changed and compared until it is rebuilt', async () => {
    const index = await openSqliteSearchIndex({ folder, inThread: true });
    const db = new Database(join(folder, 'passages-v1.sqlite'));
    db.pragma('journal_mode = WAL');
    load(db);
    db.exec(sql);
    db.close();
    await index.swap('passages', undefined, 1);
    const tested = new TestIndex('passages', index);
    const near = (...parts: readonly number[]) => ({ vector: { model: 'small', values: direction(...parts) } });
    const documents = [
      putDocument('d1', [passage('c1', 'alpha backups', { vector: direction(1) })], { tagIds: ['t1'] }),
      putDocument('d2', [passage('c2', 'beta scope1', { vector: direction(0, 1), enabled: true })]),
      putDocument('d3', [passage('c3', 'alpha', { vector: direction(1) })], { scope: 's:2' }),
      putDocument('d4', [passage('c4', 'alpha', { vector: direction(1), enabled: false })]),
    ];
    await tested.apply(documents);
    expect(await tested.found('alpha beta scope2')).toEqual(expect.arrayContaining(['c1', 'c2']));
    // No text finds the tokens that stood for scopes, nor what looks like them.
    expect(await tested.found('scope1')).toEqual(sql.includes('codes') ? ['c2'] : []);
    expect(await tested.found('', { mode: 'vector', ...near(1) })).toEqual(['c1', 'c2']);
    expect(await tested.found('alpha', { mode: 'hybrid', ...near(0, 1), tagIds: ['t1'] })).toEqual(['c1']);

    const scopes = ['s:1', 's:2'];
    expect(await index.scopesWith('passages', { scopes, text: 'alpha' })).toEqual(scopes);
    expect(await index.scopesWith('passages', { scopes, text: 'backup alpha' })).toEqual(['s:1']);

    await index.prepare('passages', 2);
    await tested.apply(documents, { version: 2 });
    expect(await index.scan('passages', 2, null, 10)).toEqual(await index.scan('passages', 1, null, 10));

    await tested.apply([
      { op: 'removeDocument', documentId: 'd1' },
      putDocument('d3', [passage('c3', 'alpha', { vector: direction(1) })]),
    ]);
    expect(await tested.found('backups alpha', { mode: 'hybrid', ...near(1) })).toEqual(['c3', 'c2']);
    await index.close();
  });
});

it('a search after another finds what came and what went between them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'search-'));
  const [index, other] = await Promise.all([1, 2].map(() => openSqliteSearchIndex({ folder, inThread: true })));
  if (index === undefined || other === undefined) throw new Error('unreachable');
  await index.prepare('passages', 1);
  await index.swap('passages', undefined, 1);
  const [writing, reading] = [new TestIndex('passages', other), new TestIndex('passages', index)];
  const found = () => reading.found('', { mode: 'vector', vector: { model: 'small', values: direction(1) } });
  const vectors = { vector: direction(1) };
  await writing.apply([putDocument('d1', [passage('c1', 'a', vectors)])]);
  expect(await found()).toEqual(['c1']);
  await writing.apply([putDocument('d2', [passage('c2', 'a', vectors)])]);
  expect(await found()).toEqual(['c1', 'c2']);
  await writing.apply([{ op: 'removeDocument', documentId: 'd1' }]);
  expect(await found()).toEqual(['c2']);
  await writing.apply([putDocument('d2', [passage('c2', 'a', vectors)], { scope: 's:2' })]);
  expect(await found()).toEqual([]);
  await Promise.all([index.close(), other.close()]);
  rmSync(folder, { recursive: true });
});
