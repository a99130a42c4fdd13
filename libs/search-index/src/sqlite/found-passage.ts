import { type Found, inOrder, isCutInTie, MAX_CANDIDATES, type Ranked } from '../fusion';
import type { Terms } from '../language/terms';
import type { IdRanges } from './id-ranges';
import type { Statements } from './statements';

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
  find(terms: Terms, looked: Looked, wanted: number): readonly Found<number>[];
  /** Those of the scopes that have a passage with all words, in either language. */
  scopesWith(terms: Terms, scopes: readonly number[]): readonly number[];
}

/** The first so many, ties by chunk id. Where the cut would fall into a tie, more are fetched, so that the cut never depends on how rows were stored. */
export const untied = <Each extends Found<number>>(
  wanted: number,
  fetch: (limit: number) => readonly Each[],
): readonly Each[] => {
  let limit = wanted + 1;
  let found = fetch(limit);
  while (isCutInTie(found, wanted, limit)) {
    limit = Math.min(limit * 2, MAX_CANDIDATES);
    found = fetch(limit);
  }
  return inOrder(found).slice(0, wanted);
};

/** A passage whose chunk id is read when it is asked for: the rows are many and lie far apart, and only ties need it. */
class StoredPassage implements Found<number> {
  private name: string | undefined;

  constructor(
    private readonly statements: Statements,
    readonly id: number,
    readonly value: number,
  ) {}

  get chunkId(): string {
    return (this.name ??=
      this.statements.value<string>('select chunkId from passages where id = ?', this.id) ?? `${this.id}`);
  }
}

/** Ranked passages with their chunk ids. */
export const named = (statements: Statements, ranked: readonly Ranked<number>[]): readonly Found<number>[] =>
  ranked.map(({ id, value }) => new StoredPassage(statements, id, value));
