import { type Place, placeOf } from '@app/kernel';
import type Database from 'better-sqlite3';
import {
  type Candidate,
  candidatesFor,
  type Found,
  fused,
  inOrder,
  isCutInTie,
  MAX_CANDIDATES,
  type Ranked,
} from '../fusion';
import { queryTerms } from '../language/terms';
import type { SearchHit, SearchQuery } from '../search-index';
import { hasWholes, SCOPE_TOKEN, scopeToken, vectorTable } from './index-file';

type Terms = ReturnType<typeof queryTerms>;

interface FoundPassage extends Found<number> {
  readonly document: number;
}
type HitRow = Omit<SearchHit, 'headings' | 'score' | 'textRank' | 'vectorRank' | keyof Place> & {
  readonly [Field in keyof Place]-?: NonNullable<Place[Field]> | null;
} & {
  readonly headings: string;
  readonly scopeId: number;
};

/** Searches one version of an index. The same documents give the same hits in the same order, however they got there. */
export class IndexReader {
  private readonly statements = new Map<string, Database.Statement>();

  private readonly hasWholes: boolean;

  constructor(private readonly db: Database.Database) {
    this.hasWholes = hasWholes(db);
  }

  search(query: SearchQuery): readonly SearchHit[] {
    const scopes = this.all<number>(
      'select id from scopes where scope in (select value from json_each(?))',
      JSON.stringify(query.scopes),
    );
    const terms = queryTerms(query.text);
    const documents = this.filtered(query, scopes);
    if (scopes.length === 0 || query.limit < 1 || documents?.length === 0) return [];
    const wanted = candidatesFor(query.limit);
    const byText =
      query.mode === 'vector' || terms.en.length === 0 ? [] : this.byText(terms, scopes, documents, wanted);
    const byVector =
      query.mode === 'text'
        ? []
        : this.untied(wanted, (limit) => this.vectorLeg(query.vector, scopes, documents, limit));
    return fused(byText, byVector, query)
      .slice(0, query.limit)
      .flatMap((candidate) => this.hit(candidate, scopes));
  }

  revisionOf(documentId: string): number | undefined {
    return this.all<number>('select revision from documents where documentId = ?', documentId)[0];
  }

  count(): { readonly documents: number; readonly passages: number } {
    return {
      documents: this.one<number>('select count(*) from documents'),
      passages: this.one<number>('select count(*) from passages'),
    };
  }

  /** Rows of the documents that the filters leave; undefined without filters. */
  private filtered(
    { documentIds, exceptDocumentIds, tagIds }: SearchQuery,
    scopes: readonly number[],
  ): readonly number[] | undefined {
    if (documentIds === undefined && exceptDocumentIds === undefined && tagIds === undefined) return undefined;
    return this.all<number>(
      `select id from documents where scope in (select value from json_each(@scopes))
         and (@documents is null or documentId in (select value from json_each(@documents)))
         and (@except is null or documentId not in (select value from json_each(@except)))
         and (@tags is null or exists (select 1 from tags where tags.document = documents.id and tagId in (select value from json_each(@tags))))`,
      {
        scopes: JSON.stringify(scopes),
        documents: documentIds ? JSON.stringify(documentIds) : null,
        except: exceptDocumentIds ? JSON.stringify(exceptDocumentIds) : null,
        tags: tagIds ? JSON.stringify(tagIds) : null,
      },
    );
  }

  /**
   * The best passages by BM25, each by its own score and that of its whole document: so words that stand in two passages of a document
   * count together (measured in docs/decisions, search).
   */
  private byText(
    terms: Terms,
    scopes: readonly number[],
    documents: readonly number[] | undefined,
    wanted: number,
  ): readonly Found<number>[] {
    const asked = matching(terms);
    if (asked === '') return [];
    const match = `scope : (${scopes.map((scope) => scopeToken(scope)).join(' OR ')}) AND (${asked})`;
    const filter = documents === undefined ? [] : [JSON.stringify(documents)];
    const passages = this.statement(
      this.ranked('terms', documents === undefined ? '' : ` and +terms.rowid ${OF_DOCUMENTS}`),
    );
    const found = this.untied(wanted, (limit) => passages.all(match, ...filter, limit) as Ranked<number>[]);
    if (!this.hasWholes || found.length === 0) return found;
    const wholes = this.statement(
      this.ranked('wholes', documents === undefined ? '' : ` and +wholes.rowid ${AMONG_THESE}`),
    ).all(match, ...filter, wanted) as Ranked<number>[];
    const values = new Map(wholes.map(({ id, value }) => [id, value]));
    // Behind the last of so many documents all count as it does.
    const last = wholes.at(-1)?.value ?? 0;
    return inOrder(
      found.map((passage) => ({ ...passage, value: passage.value + (values.get(passage.document) ?? last) })),
    );
  }

  private ranked(table: 'terms' | 'wholes', filter: string): string {
    const weights = this.hasWholes ? '1.0, 1.0, 0.0' : '1.0, 0.0';
    return `select rowid as id, rank as value from ${table} where ${table} match ? and rank match 'bm25(${weights})'${filter} order by rank limit ?`;
  }

  private vectorLeg(
    vector: SearchQuery['vector'],
    scopes: readonly number[],
    documents: readonly number[] | undefined,
    limit: number,
  ): readonly Ranked<number>[] {
    if (vector === undefined) return [];
    const model = this.all<number>(
      'select id from models where model = ? and dimensions = ?',
      vector.model,
      vector.values.length,
    )[0];
    if (model === undefined) return [];
    const nearest = this.statement(
      `select rowid as id, distance as value from ${vectorTable(model)} where embedding match ? and k = ? and scope = ?${documents === undefined ? '' : ` and rowid ${OF_DOCUMENTS}`}`,
    );
    const filter = documents === undefined ? [] : [JSON.stringify(documents)];
    return scopes
      .flatMap(
        (scope) => nearest.all(new Float32Array(vector.values), limit, BigInt(scope), ...filter) as Ranked<number>[],
      )
      .toSorted((a, b) => a.value - b.value)
      .slice(0, limit);
  }

  /** The first so many, ties by chunk id. Where the cut would fall into a tie, more are fetched, so that the cut never depends on how rows were stored. */
  private untied(wanted: number, fetch: (limit: number) => readonly Ranked<number>[]): readonly FoundPassage[] {
    let limit = wanted + 1;
    let found = fetch(limit);
    while (isCutInTie(found, wanted, limit)) {
      limit = Math.min(limit * 2, MAX_CANDIDATES);
      found = fetch(limit);
    }
    const passages = new Map(
      (
        this.statement('select id, chunkId, document from passages where id in (select value from json_each(?))').all(
          JSON.stringify(found.map(({ id }) => id)),
        ) as { id: number; chunkId: string; document: number }[]
      ).map((passage) => [passage.id, passage]),
    );
    return inOrder(
      found.flatMap(({ id, value }) => ({
        value,
        ...(passages.get(id) as { id: number; chunkId: string; document: number }),
      })),
    ).slice(0, wanted);
  }

  /** The hit, read with its scope once more: what the indexes hold by mistake is still not shown to others. */
  private hit({ id, score, textRank, vectorRank }: Candidate<number>, scopes: readonly number[]): readonly SearchHit[] {
    const row = this.statement(
      `select scopes.id as scopeId, documentId, name as documentName, revision as documentRevision, scopes.scope, chunkId, ordinal, text, headings, "start", "end", page, slide, sheet, "row"
       from passages join documents on documents.id = passages.document join scopes on scopes.id = documents.scope
       where passages.id = ? and enabled = 1`,
    ).get(id) as HitRow | undefined;
    if (row === undefined || !scopes.includes(row.scopeId)) return [];
    const { scopeId: _, headings, page, slide, sheet, row: rowOfSheet, ...hit } = row;
    return [
      {
        ...hit,
        headings: JSON.parse(headings) as string[],
        ...placeOf({ page, slide, sheet, row: rowOfSheet }),
        score,
        textRank,
        vectorRank,
      },
    ];
  }

  private all<T>(sql: string, ...parameters: readonly unknown[]): readonly T[] {
    return this.statement(sql)
      .pluck()
      .all(...parameters) as T[];
  }

  private one<T>(sql: string, ...parameters: readonly unknown[]): T {
    return this.statement(sql)
      .pluck()
      .get(...parameters) as T;
  }

  private statement(sql: string): Database.Statement {
    const known = this.statements.get(sql) ?? this.db.prepare(sql);
    this.statements.set(sql, known);
    return known;
  }
}

/** No columns are named, since FTS5 then reads every place of a word to count in how many rows it stands: that took three times as long. */
const matching = ({ en, de }: Terms): string =>
  [...en, ...de.filter((term, at) => term !== en[at])]
    .filter((term) => !SCOPE_TOKEN.test(term))
    .map((term) => `"${term}"`)
    .join(' OR ');

/** After `+rowid` of a full-text table: it is asked once and each of its matches is looked up here. Without the plus SQLite asks it again for each row. */
const OF_DOCUMENTS = 'in (select id from passages where document in (select value from json_each(?)))';
const AMONG_THESE = 'in (select value from json_each(?))';
