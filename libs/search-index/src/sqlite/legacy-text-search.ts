import { type Found, inOrder } from '../fusion';
import type { Terms } from '../language/terms';
import { type Looked, type TextSearch, untied } from './found-passage';
import { IDS_OF_SCOPE, idsOfScope, type Layout, SCOPE_TOKEN, scopeToken } from './layout';
import type { Statements } from './statements';

interface FoundPassage extends Found<number> {
  readonly document: number;
}

/** Where filters leave such a share of the documents, what they leave out is left out behind the ranking. */
const MOST = 0.2;

/** Ranks words by FTS5, which earlier versions stored them in: such a file answers until it is rebuilt. */
export class LegacyTextSearch implements TextSearch {
  private readonly passages: string;
  private readonly passagesOfDocuments: string;
  private readonly wholes: string;
  private readonly scopes: string;

  constructor(
    private readonly statements: Statements,
    private readonly layout: Layout,
  ) {
    const weights = layout.ranges ? '' : layout.wholes ? ', 1.0, 1.0, 0.0' : ', 1.0, 0.0';
    const range = layout.ranges ? ' and rowid between ? and ?' : '';
    // Not by the hidden column `rank`, by which FTS5 sorts all matches itself, with all their places.
    const ranked = (table: string, filter: string): string =>
      `select rowid as id, bm25(${table}${weights}) as value from ${table} where ${table} match ?${range}${filter}`;
    // The rows themselves hold the texts, and lie far apart.
    const names = layout.ranges ? ' indexed by passage_names' : '';
    const passages = (filter: string): string =>
      `select ranked.id, value, chunkId, document from (${ranked('terms', filter)} order by value limit ?) as ranked join passages${names} on passages.id = ranked.id`;
    this.passages = passages('');
    // `+rowid`: the full-text index is asked once and each of its matches is looked up. Without the plus SQLite asks it again for each row.
    this.passagesOfDocuments = passages(
      ' and +rowid in (select id from passages where document in (select value from json_each(?)))',
    );
    const scopeOfRow = layout.ranges
      ? `rowid / ${IDS_OF_SCOPE}`
      : '(select scope from passages join documents on documents.id = document where passages.id = terms.rowid)';
    this.scopes = `select distinct ${scopeOfRow} from terms where terms match ?${range} and ${scopeOfRow} in (select value from json_each(?))`;
    this.wholes = ranked('wholes', ' and +rowid in (select value from json_each(?))');
  }

  /**
   * The best passages by BM25, each by its own score and that of its whole document: so words that stand in two passages of a document
   * count together (measured in docs/decisions, search).
   */
  find(terms: Terms, looked: Looked, wanted: number): readonly FoundPassage[] {
    const asked = this.asked(terms);
    if (asked === '') return [];
    const found = untied(wanted, (limit) => this.best(asked, looked, limit));
    if (!this.layout.wholes || found.length === 0) return found;
    const documents = JSON.stringify([...new Set(found.map(({ document }) => document))]);
    const values = new Map(
      this.queries(asked, looked.scopes).flatMap((query) =>
        this.statements
          .rows<{ id: number; value: number }>(this.wholes, ...query, documents)
          .map(({ id, value }) => [id, value]),
      ),
    );
    return inOrder(
      found.map((passage) => ({ ...passage, value: passage.value + (values.get(passage.document) ?? 0) })),
    );
  }

  /** Those of the scopes that have a passage with all words. One look through all passages with them: another for each scope would take as long each time. */
  scopesWith({ en, de }: Terms, scopes: readonly number[]): readonly number[] {
    if (en.length === 0 || scopes.length === 0) return [];
    const asked = [...new Set([en, de].map((terms) => terms.map((term) => `"${term}"`).join(' AND ')))];
    const first = idsOfScope(Math.min(...scopes))[0];
    const last = idsOfScope(Math.max(...scopes))[1];
    return this.statements.values<number>(
      this.scopes,
      `(${asked.join(') OR (')})`,
      ...(this.layout.ranges ? [first, last] : []),
      JSON.stringify(scopes),
    );
  }

  private best(asked: string, looked: Looked, limit: number): readonly FoundPassage[] {
    const { documents, scopes } = looked;
    if (documents === undefined) return this.rows(this.passages, asked, looked, [limit], limit);
    const share = documents.size / Math.max(this.documentsOf(scopes), 1);
    if (share > MOST) {
      const most = Math.ceil((limit / share) * 1.5);
      const all = this.rows(this.passages, asked, looked, [most], most);
      const found = all.filter(({ document }) => documents.has(document));
      if (found.length >= limit || all.length < most) return found.slice(0, limit);
    }
    return this.rows(this.passagesOfDocuments, asked, looked, [JSON.stringify([...documents]), limit], limit);
  }

  private documentsOf(scopes: readonly number[]): number {
    return this.statements.value<number>(
      'select count(*) from documents where scope in (select value from json_each(?))',
      JSON.stringify(scopes),
    ) as number;
  }

  private rows(
    sql: string,
    asked: string,
    { scopes }: Looked,
    parameters: readonly unknown[],
    limit: number,
  ): readonly FoundPassage[] {
    return this.queries(asked, scopes)
      .flatMap((query) => this.statements.rows<FoundPassage>(sql, ...query, ...parameters))
      .toSorted((a, b) => a.value - b.value)
      .slice(0, limit);
  }

  /** The parameters of one query after the other that together search the scopes. */
  private queries(asked: string, scopes: readonly number[]): readonly (readonly unknown[])[] {
    return this.layout.ranges
      ? scopes.map((scope) => [asked, ...idsOfScope(scope)])
      : [[`scope : (${scopes.map(scopeToken).join(' OR ')}) AND (${asked})`]];
  }

  /** No columns are named, since FTS5 then reads every place of a word to count in how many rows it stands: that took three times as long. */
  private asked({ en, de }: Terms): string {
    return [...en, ...de.filter((term, at) => term !== en[at])]
      .filter((term) => this.layout.ranges || !SCOPE_TOKEN.test(term))
      .map((term) => `"${term}"`)
      .join(' OR ');
  }
}
