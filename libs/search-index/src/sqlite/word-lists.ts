import { LRUCache } from 'lru-cache';
import { idsOfScope } from './layout';
import type { Statements } from './statements';
import { blobOf, wholesOf } from './vectors';

/** So many rows whose ids follow one another share one list of a word. */
export const ROWS_OF_BLOCK = 2 ** 11;
/** Bits of an entry that count; the others are the row's place in its block. */
const COUNT_BITS = 21;
const MOST_COUNTED = 2 ** COUNT_BITS - 1;
/** Is no word: its list says of how many words each row is. */
const ANY = '';
/** Bytes of the lengths of rows that are kept in memory. */
const KEPT = 4 * 1024 * 1024;

/** A row with its words, and how often each stands there. */
export interface CountedRow {
  readonly id: number;
  readonly counts: ReadonlyMap<string, number>;
}

/** In which rows of a block a word stands: an entry each, in order, to be read by `placeOf` and `countOf`. */
export interface WordBlock {
  readonly block: number;
  readonly entries: Uint32Array;
}

/** How many words the rows of a scope have. */
export interface RowLengths {
  readonly rows: number;
  /** Of all rows together. */
  readonly words: number;
  /** Those of each block, by their places; 0 where no row is. */
  readonly blocks: readonly { readonly block: number; readonly lengths: Uint32Array }[];
}

export const placeOf = (entry: number): number => entry >>> COUNT_BITS;
export const countOf = (entry: number): number => entry & MOST_COUNTED;

/** How often each word stands in stems with spaces between them. */
export const countsOf = (terms: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const words of terms)
    for (const word of words.split(' ')) if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
};

/**
 * For each scope and word the rows that it stands in, by blocks of rows: what a search reads of a word are a few blobs, however many rows
 * have it. FTS5 would tell of one row after the other, 1 to 2 µs each, of all scopes.
 */
export class WordLists {
  /** What was added and is not written yet, by scope, word and block: a batch writes a list once, however many documents it has. */
  private readonly added = new Map<number, Map<string, Map<number, number[]>>>();
  /** By scopes. */
  private readonly kept = new LRUCache<number, { readonly state: string; readonly lengths: RowLengths }>({
    maxSize: KEPT,
    sizeCalculation: ({ lengths: { blocks } }) => 100 + blocks.length * (100 + 4 * ROWS_OF_BLOCK),
  });

  constructor(
    private readonly statements: Statements,
    private readonly table: 'passage_words' | 'document_words',
  ) {}

  /** Adds rows of a scope whose ids are behind those that it has. They stand in the lists once they are flushed. */
  put(scope: number, rows: readonly CountedRow[]): void {
    const lists = this.added.get(scope) ?? new Map<string, Map<number, number[]>>();
    this.added.set(scope, lists);
    const add = (word: string, { block, place }: Place, count: number): void => {
      const blocks = lists.get(word) ?? new Map<number, number[]>();
      const entries = blocks.get(block) ?? [];
      entries.push(((place << COUNT_BITS) | Math.min(count, MOST_COUNTED)) >>> 0);
      lists.set(word, blocks.set(block, entries));
    };
    for (const { id, counts } of rows) {
      const place = inScope(scope, id);
      let all = 0;
      for (const [word, count] of counts) {
        add(word, place, count);
        all += count;
      }
      add(ANY, place, all);
    }
  }

  /** Writes what was added. */
  flush(): void {
    // Both sides of `||` are taken as bytes, and give a text of them.
    const sql = `insert into ${this.table}(scope, word, block, entries) values (?, ?, ?, ?)
      on conflict (scope, word, block) do update set entries = cast(entries || excluded.entries as blob)`;
    for (const [scope, lists] of this.added)
      for (const word of [...lists.keys()].toSorted())
        for (const [block, entries] of lists.get(word) as Map<number, number[]>)
          this.statements.run(sql, scope, word, block, blobOf(Uint32Array.from(entries)));
    this.forget();
  }

  /** Forgets what was added and not written. */
  forget(): void {
    this.added.clear();
  }

  /** Takes rows of a scope out of the lists of these words, and of no others. */
  remove(scope: number, ids: readonly number[], words: Iterable<string>): void {
    this.flush();
    const blocks = new Map<number, Set<number>>();
    for (const id of ids) {
      const { block, place } = inScope(scope, id);
      blocks.set(block, (blocks.get(block) ?? new Set()).add(place));
    }
    for (const word of [ANY, ...words])
      for (const [block, places] of blocks) {
        const entries = this.block(scope, word, block);
        const kept = entries.filter((entry) => !places.has(placeOf(entry)));
        if (kept.length === 0)
          this.statements.run(
            `delete from ${this.table} where scope = ? and word = ? and block = ?`,
            scope,
            word,
            block,
          );
        else if (kept.length < entries.length)
          this.statements.run(
            `update ${this.table} set entries = ? where scope = ? and word = ? and block = ?`,
            blobOf(kept),
            scope,
            word,
            block,
          );
      }
  }

  /** The rows of a scope that have a word. */
  of(scope: number, word: string): readonly WordBlock[] {
    return (
      this.statements
        .get(`select block, entries from ${this.table} where scope = ? and word = ? order by block`)
        .raw()
        .all(scope, word) as [number, Buffer][]
    ).map(([block, entries]) => ({ block, entries: wholesOf(entries) }));
  }

  /** All rows of a scope. They are read once for a `state`: another one whenever the file has changed. */
  lengths(scope: number, state: string): RowLengths {
    const known = this.kept.get(scope);
    if (known?.state === state) return known.lengths;
    const lengths = lengthsIn(this.of(scope, ANY));
    this.kept.set(scope, { state, lengths });
    return lengths;
  }

  /** Those of the scopes in which a word stands. */
  scopesWith(word: string, scopes: readonly number[]): readonly number[] {
    return this.statements.values<number>(
      `select value from json_each(?) where exists (select 1 from ${this.table} where scope = value and word = ?)`,
      JSON.stringify(scopes),
      word,
    );
  }

  private block(scope: number, word: string, block: number): Uint32Array {
    const entries = this.statements.value<Buffer>(
      `select entries from ${this.table} where scope = ? and word = ? and block = ?`,
      scope,
      word,
      block,
    );
    return entries === undefined ? new Uint32Array() : wholesOf(entries);
  }
}

interface Place {
  readonly block: number;
  readonly place: number;
}

const inScope = (scope: number, id: number): Place => {
  const row = id - idsOfScope(scope)[0];
  return { block: Math.floor(row / ROWS_OF_BLOCK), place: row % ROWS_OF_BLOCK };
};

const lengthsIn = (all: readonly WordBlock[]): RowLengths => {
  let rows = 0;
  let words = 0;
  const blocks = all.map(({ block, entries }) => {
    const lengths = new Uint32Array(ROWS_OF_BLOCK);
    for (let at = 0; at < entries.length; at += 1) {
      const entry = entries[at] as number;
      lengths[placeOf(entry)] = countOf(entry);
      words += countOf(entry);
    }
    rows += entries.length;
    return { block, lengths };
  });
  return { rows, words, blocks };
};
