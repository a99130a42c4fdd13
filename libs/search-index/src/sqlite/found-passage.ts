import { type Found, inOrder, isCutInTie, MAX_CANDIDATES, type Ranked } from '../fusion';
import type { Terms } from '../language/terms';
import type { IdRanges } from './id-ranges';
import type { Layout } from './layout';
import type { Statements } from './statements';

/** What a search looks through: scopes, and what its filters leave there. */
export interface Looked {
  /** Of the file: another one whenever it has changed. */
  readonly state: string;
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

/** The first so many, and what follows them at least as far as the tie goes that the cut would fall into. */
export const withTies = <Each extends { readonly value: number }>(
  wanted: number,
  fetch: (limit: number) => readonly Each[],
): readonly Each[] => {
  let limit = wanted + 1;
  let found = fetch(limit);
  while (isCutInTie(found, wanted, limit)) {
    limit = Math.min(limit * 2, MAX_CANDIDATES);
    found = fetch(limit);
  }
  return found;
};

/** The first so many, ties by chunk id, so that the cut never depends on how rows were stored. */
export const untied = <Each extends Found<number>>(
  wanted: number,
  fetch: (limit: number) => readonly Each[],
): readonly Each[] => inOrder(withTies(wanted, fetch)).slice(0, wanted);

/** Reads chunk ids when they are asked for: the rows are many and lie far apart, and only ties need them. Those of all ties are read at once. */
class ChunkNames {
  private ofTies: ReadonlyMap<number, string> | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly ranked: readonly Ranked<number>[],
    private readonly layout: Pick<Layout, 'ranges'>,
  ) {}

  of(id: number): string {
    this.ofTies ??= this.read(tied(this.ranked));
    return this.ofTies.get(id) ?? this.read([id]).get(id) ?? `${id}`;
  }

  /** In one row, since each that the driver hands over takes longer than to find it, and from an index, where more of them lie together. */
  private read(ids: readonly number[]): ReadonlyMap<number, string> {
    if (ids.length === 0) return new Map();
    const [found, names] = this.statements
      .get(
        `select json_group_array(id), json_group_array(chunkId) from passages${this.layout.ranges ? ' indexed by passage_names' : ''}
         where id in (select value from json_each(?))`,
      )
      .raw()
      .get(JSON.stringify(ids)) as [string, string];
    const chunkIds = JSON.parse(names) as string[];
    return new Map((JSON.parse(found) as number[]).map((id, at) => [id, chunkIds[at] as string]));
  }
}

/** Those that others are as good as. */
const tied = (ranked: readonly Ranked<number>[]): readonly number[] => {
  const counts = new Map<number, number>();
  for (const { value } of ranked) counts.set(value, (counts.get(value) ?? 0) + 1);
  return ranked.filter(({ value }) => (counts.get(value) ?? 0) > 1).map(({ id }) => id);
};

class StoredPassage implements Found<number> {
  private name: string | undefined;

  constructor(
    private readonly names: ChunkNames,
    readonly id: number,
    readonly value: number,
  ) {}

  get chunkId(): string {
    return (this.name ??= this.names.of(this.id));
  }
}

/** Ranked passages with their chunk ids. */
export const named = (
  statements: Statements,
  ranked: readonly Ranked<number>[],
  layout: Pick<Layout, 'ranges'> = { ranges: true },
): readonly Found<number>[] => {
  const names = new ChunkNames(statements, ranked, layout);
  return ranked.map(({ id, value }) => new StoredPassage(names, id, value));
};
