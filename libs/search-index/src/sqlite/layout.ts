import type Database from 'better-sqlite3';

/**
 * How a file is laid out. `words`: each word has lists of the rows that it stands in; earlier files have full-text tables of FTS5
 * instead. `ranges`: the ids of a scope's rows follow one another, and vectors have codes. Those that 1.5.0 made have
 * neither, but a token for the scope among the terms and vectors of sqlite-vec, and may lack `wholes`, the full-text table of whole
 * documents, with stems apart by language. They answer until they are rebuilt.
 */
export interface Layout {
  readonly words: boolean;
  readonly ranges: boolean;
  readonly wholes: boolean;
}

export const layoutOf = (db: Database.Database): Layout => {
  const has = (table: string): boolean =>
    db.prepare('select count(*) from sqlite_schema where name = ?').pluck().get(table) === 1;
  return { words: has('passage_words'), ranges: has('codes'), wholes: has('wholes') };
};

/** So many rows a scope has at most. Its ids are those from its own id times this number on. */
export const IDS_OF_SCOPE = 2 ** 30;

/** The first and the last id that rows of a scope may have. */
export const idsOfScope = (scope: number): readonly [first: number, last: number] => [
  scope * IDS_OF_SCOPE,
  (scope + 1) * IDS_OF_SCOPE - 1,
];

/** The token that stands for a scope in the full-text index of a file without ranges: one word, whatever the scope's name. */
export const scopeToken = (scope: number): string => `scope${scope}`;

/** Words of texts that look like it are not searched for there. */
export const SCOPE_TOKEN = /^scope\d+$/;
