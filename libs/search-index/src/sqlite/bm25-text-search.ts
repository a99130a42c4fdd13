import { type Found, inOrder, MAX_CANDIDATES } from '../fusion';
import type { Terms } from '../language/terms';
import { bestOf, bm25 } from './bm25';
import { type Looked, named, type TextSearch } from './found-passage';
import { IDS_OF_SCOPE } from './layout';
import type { Statements } from './statements';
import { placeOf, WordLists } from './word-lists';

/** Ranks words: the full-text half of a search. */
export class Bm25TextSearch implements TextSearch {
  private readonly passages: WordLists;
  private readonly documents: WordLists;

  constructor(private readonly statements: Statements) {
    this.passages = new WordLists(statements, 'passage_words');
    this.documents = new WordLists(statements, 'document_words');
  }

  /**
   * The best passages by BM25, each by its own score and that of its whole document: so words that stand in two passages of a document
   * count together (measured in docs/decisions, search).
   */
  find(terms: Terms, { scopes, state, passages }: Looked, wanted: number): readonly Found<number>[] {
    const asked = { words: askedOf(terms), scopes: scopes.toSorted((a, b) => a - b), state };
    const best = bestOf(bm25(this.passages, { ...asked, isWanted: passages?.ascending() }), wanted);
    const ranked = best.toSorted((a, b) => a.value - b.value).slice(0, MAX_CANDIDATES);
    const found = inOrder(named(this.statements, ranked)).slice(0, wanted);
    if (found.length === 0) return [];
    const documentOf = this.documentsOf(found.map(({ id }) => id));
    const wholes = new Set(documentOf.values());
    const { ids, scores } = bm25(this.documents, { ...asked, isWanted: (id) => wholes.has(id) });
    const values = new Map([...ids].map((id, at) => [id, scores[at] as number]));
    const together = found.map(({ id, value }) => ({ id, value: value - (values.get(documentOf.get(id) ?? 0) ?? 0) }));
    return inOrder(named(this.statements, together));
  }

  /** By the index over the documents of a scope, which is small: the ids of their passages follow one another. */
  private documentsOf(passages: readonly number[]): ReadonlyMap<number, number> {
    const rows = this.statements
      .get(
        `select value, (select id from documents where scope = value / ${IDS_OF_SCOPE} and firstPassage <= value order by firstPassage desc limit 1)
         from json_each(?)`,
      )
      .raw()
      .all(JSON.stringify(passages)) as [number, number][];
    return new Map(rows);
  }

  scopesWith({ en, de, respelled }: Terms, scopes: readonly number[]): readonly number[] {
    if (en.length === 0) return [];
    const all = respelled.every((word, at) => word === en[at]) ? [en, de] : [en, de, respelled];
    const found = new Set(all.flatMap((words) => this.withAll([...new Set(words)], scopes)));
    return scopes.filter((scope) => found.has(scope));
  }

  /** Few scopes that have all words lack a passage with all of them. */
  private withAll(words: readonly string[], scopes: readonly number[]): readonly number[] {
    const having = words.reduce((left, word) => this.passages.scopesWith(word, left), scopes);
    return words.length === 1 ? having : having.filter((scope) => this.haveOneRow(words, scope));
  }

  private haveOneRow([first, ...others]: readonly string[], scope: number): boolean {
    let common = this.rowsOf(scope, first as string);
    for (const word of others) {
      if (common.size === 0) return false;
      const rows = this.rowsOf(scope, word);
      common = new Set([...common].filter((row) => rows.has(row)));
    }
    return common.size > 0;
  }

  private rowsOf(scope: number, word: string): ReadonlySet<string> {
    return new Set(
      this.passages
        .of(scope, word)
        .flatMap(({ block, entries }) => Array.from(entries, (entry) => `${block}/${placeOf(entry)}`)),
    );
  }
}

/** How often each word is asked for: each of its different stems once. */
const askedOf = ({ en, de, respelled, joined }: Terms): ReadonlyMap<string, number> => {
  const asked = new Map<string, number>();
  const others = respelled.filter((each, at) => each !== en[at] && each !== de[at]);
  for (const term of [...en, ...de.filter((each, at) => each !== en[at]), ...others, ...joined])
    asked.set(term, (asked.get(term) ?? 0) + 1);
  return asked;
};
