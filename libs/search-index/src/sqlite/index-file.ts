import type { Checkpoint } from '@app/read-store';
import type Database from 'better-sqlite3';
import { load } from 'sqlite-vec';
import { CodedVectors } from './coded-vectors';
import { FormerVectors } from './former-vectors';
import type { Statements } from './statements';
import type { Vectors } from './vectors';

/** What an index file says of itself; in the file also `loose`: content was removed since the last purge. */
export interface IndexHead extends Checkpoint {
  readonly fence: number;
}

/** Makes the tables of a version of an index, if they are missing. */
export const prepareIndex = (db: Database.Database): void => {
  db.transaction(() => {
    if (readIndexHead(db) !== undefined) return;
    db.exec(`
      create table head(position text, handled integer not null, fence integer not null, loose integer not null);
      insert into head values (null, 0, 0, 0);
      create table scopes(id integer primary key, scope text not null unique, changed integer not null default 0);
      create table models(id integer primary key, model text not null, dimensions integer not null, unique (model, dimensions));
      create table documents(id integer primary key, documentId text not null unique, name text not null, scope integer not null references scopes,
        revision integer not null, model text, language text not null);
      create index documents_of_scope on documents(scope);
      create table tags(document integer not null, tagId text not null, primary key (document, tagId)) without rowid;
      create table passages(id integer primary key, document integer not null, ordinal integer not null, chunkId text not null, text text not null,
        headings text not null, "start" integer not null, "end" integer not null, page integer, enabled integer not null, vectors integer references models,
        slide integer, sheet text, "row" integer);
      create index passages_of_document on passages(document, ordinal);
      create index passage_names on passages(id, document, chunkId);
      create table vectors(id integer primary key, vector blob not null);
      create table codes(document integer not null, model integer not null, scope integer not null, passages blob not null, codes blob not null);
      create index codes_of_document on codes(document);
      create index codes_of_scope on codes(scope, model);
      create virtual table terms using fts5(english, german, tokenize = 'unicode61 remove_diacritics 2');
      insert into terms(terms, rank) values ('secure-delete', 1);
      create virtual table wholes using fts5(english, german, tokenize = 'unicode61 remove_diacritics 2');
      insert into wholes(wholes, rank) values ('secure-delete', 1);`);
  }).immediate();
};

/**
 * How a file is laid out. `ranges`: the ids of a scope's rows follow one another, and vectors have codes. Those that 1.5.0 made have
 * neither, but a token for the scope among the terms and vectors of sqlite-vec, and may lack `wholes`, the full-text table of whole
 * documents, with stems apart by language. They answer until they are rebuilt.
 */
export interface Layout {
  readonly ranges: boolean;
  readonly wholes: boolean;
}

export const layoutOf = (db: Database.Database): Layout => {
  const has = (table: string): boolean =>
    db.prepare('select count(*) from sqlite_schema where name = ?').pluck().get(table) === 1;
  return { ranges: has('codes'), wholes: has('wholes') };
};

/** The vectors of a file. */
export const vectorsOf = (statements: Statements, { ranges }: Layout): Vectors =>
  ranges ? new CodedVectors(statements) : new FormerVectors(statements);

/** So many rows a scope has at most. Its ids are those from its own id times this number on. */
export const IDS_OF_SCOPE = 2 ** 30;

/** The first and the last id that rows of a scope may have. */
export const idsOfScope = (scope: number): readonly [first: number, last: number] => [
  scope * IDS_OF_SCOPE,
  (scope + 1) * IDS_OF_SCOPE - 1,
];

/** Gives an index file that an earlier version made the columns of places that it lacks. */
export const addPlaces = (db: Database.Database): void => {
  const hasPlaces = () =>
    (db.pragma('table_info(passages)') as readonly { name: string }[]).some(({ name }) => name === 'sheet');
  if (hasPlaces()) return;
  // Two threads may find them missing.
  db.transaction(() => {
    if (hasPlaces()) return;
    db.exec(`
      alter table passages add column slide integer;
      alter table passages add column sheet text;
      alter table passages add column "row" integer;`);
  }).immediate();
};

/** The head of an index file; undefined while the file is not yet made. */
export const readIndexHead = (db: Database.Database): IndexHead | undefined => {
  const made =
    db.prepare(`select count(*) from sqlite_schema where type = 'table' and name = 'head'`).pluck().get() === 1;
  return made ? (db.prepare('select position, handled, fence from head').get() as IndexHead) : undefined;
};

/** Adds what files without ranges search vectors by to a connection. */
export const withVectors = (db: Database.Database): Database.Database => {
  load(db);
  return db;
};

/** The token that stands for a scope in the full-text index of a file without ranges: one word, whatever the scope's name. */
export const scopeToken = (scope: number): string => `scope${scope}`;

/** Words of texts that look like it are not searched for there. */
export const SCOPE_TOKEN = /^scope\d+$/;
