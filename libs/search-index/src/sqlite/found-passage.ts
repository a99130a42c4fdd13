import { type Found, inOrder, isCutInTie, MAX_CANDIDATES, type Ranked } from '../fusion';
import type { Terms } from '../language/terms';
import type { IdRanges } from './id-ranges';
import type { Statements } from './statements';

export interface FoundPassage extends Found<number> {
  readonly document: number;
}

/** What a search looks through: scopes, and what its filters leave there. */
export interface Looked {
  readonly scopes: readonly number[];
  readonly documents?: ReadonlySet<number> | undefined;
  /** The passages of these documents; given where their ids follow one another. */
  readonly passages?: IdRanges | undefined;
}

/** Finds passages by words. */
export interface TextSearch {
  /** The best passages, so many, ties by chunk id. */
  find(terms: Terms, looked: Looked, wanted: number): readonly FoundPassage[];
  /** Those of the scopes that have a passage with all words, in either language. */
  scopesWith(terms: Terms, scopes: readonly number[]): readonly number[];
}

/** The first so many, ties by chunk id. Where the cut would fall into a tie, more are fetched, so that the cut never depends on how rows were stored. */
export const untied = (wanted: number, fetch: (limit: number) => readonly FoundPassage[]): readonly FoundPassage[] => {
  let limit = wanted + 1;
  let found = fetch(limit);
  while (isCutInTie(found, wanted, limit)) {
    limit = Math.min(limit * 2, MAX_CANDIDATES);
    found = fetch(limit);
  }
  return inOrder(found).slice(0, wanted);
};

/** Ranked passages with what names them; the index over it is small, where the rows hold the texts and lie far apart. */
export const named = (statements: Statements, ranked: readonly Ranked<number>[]): readonly FoundPassage[] => {
  const rows = statements
    .get('select id, chunkId, document from passages where id in (select value from json_each(?))')
    .raw()
    .all(JSON.stringify(ranked.map(({ id }) => id))) as [number, string, number][];
  const passages = new Map(rows.map(([id, chunkId, document]) => [id, { chunkId, document }]));
  return ranked.flatMap(({ id, value }) => {
    const passage = passages.get(id);
    return passage === undefined ? [] : [{ id, value, ...passage }];
  });
};
