import type { Checkpoint } from '@app/read-store';
import type Database from 'better-sqlite3';
import { load } from 'sqlite-vec';
import { CodedVectors } from './coded-vectors';
import { LegacyTextSearch } from './legacy-text-search';
import { LegacyVectors } from './legacy-vectors';
import { LegacyWords } from './legacy-words';
import type { TextSearch } from './found-passage';
import type { Layout } from './layout';
import type { Statements } from './statements';
import { StoredWords, type Words } from './stored-words';
import { Bm25TextSearch } from './bm25-text-search';
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
        revision integer not null, model text, language text not null, firstPassage integer not null default 0, passageCount integer not null default 0);
      create index documents_of_scope on documents(scope, firstPassage, passageCount);
      create table tags(document integer not null, tagId text not null, primary key (document, tagId)) without rowid;
      create index documents_of_tag on tags(tagId, document);
      create table passages(id integer primary key, document integer not null, ordinal integer not null, chunkId text not null, text text not null,
        headings text not null, "start" integer not null, "end" integer not null, page integer, enabled integer not null, vectors integer references models,
        slide integer, sheet text, "row" integer);
      create index passages_of_document on passages(document, ordinal);
      create index passage_names on passages(id, document, chunkId);
      create table vectors(id integer primary key, vector blob not null);
      create table codes(document integer not null, model integer not null, scope integer not null, passages blob not null, codes blob not null);
      create index codes_of_document on codes(document);
      create index codes_of_scope on codes(scope, model);
      create table passage_words(scope integer not null, word text not null, block integer not null, entries blob not null,
        primary key (scope, word, block)) without rowid;
      create table document_words(scope integer not null, word text not null, block integer not null, entries blob not null,
        primary key (scope, word, block)) without rowid;
      create table words_of(document integer primary key, words text not null);`);
  }).immediate();
};

/** The vectors of a file. */
export const vectorsOf = (statements: Statements, { ranges }: Layout): Vectors =>
  ranges ? new CodedVectors(statements) : new LegacyVectors(statements);

/** The words of a file, as they are stored. */
export const wordsOf = (statements: Statements, layout: Layout): Words =>
  layout.words ? new StoredWords(statements) : new LegacyWords(statements, layout);

/** What searches the words of a file. */
export const textOf = (statements: Statements, layout: Layout): TextSearch =>
  layout.words ? new Bm25TextSearch(statements) : new LegacyTextSearch(statements, layout);

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
