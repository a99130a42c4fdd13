import { type Place, placeOf } from '@app/kernel/threads';
import type Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { type Candidate, candidatesFor, type Found, fused, inOrder, MAX_CANDIDATES } from '../fusion';
import { withCodesJoined } from '../language/joined';
import { queryTerms } from '../language/terms';
import type { Scope, SearchHit, SearchQuery } from '../search-index';
import { type Looked, named, type TextSearch } from './found-passage';
import { IdRanges } from './id-ranges';
import { textOf, vectorsOf } from './index-file';
import { type Layout, layoutOf } from './layout';
import { Statements } from './statements';
import type { Vectors } from './vectors';

type HitRow = Omit<SearchHit, 'headings' | 'score' | 'textRank' | 'vectorRank' | keyof Place> & {
  readonly [Field in keyof Place]-?: NonNullable<Place[Field]> | null;
} & {
  readonly id: number;
  readonly headings: string;
  readonly scopeId: number;
};

/** Queries whose words are kept until their vectors come, and how long they are, milliseconds. */
const MOST_PREFETCHED = 64;
const PREFETCHED_MS = 10_000;
/** Documents, of all filters together, whose ids are kept for the next search with the same filter. */
const MOST_FILTERED = 100_000;

/** Searches one version of an index. The same documents give the same hits in the same order, however they got there. */
export class IndexReader {
  private readonly statements: Statements;
  private readonly layout: Layout;
  private readonly text: TextSearch;
  private readonly vectors: Vectors;
  /** By the queries whose vectors are being made. Some never come. */
  private readonly prefetched = new LRUCache<
    string,
    { readonly looked: Looked; readonly found: readonly Found<number>[] }
  >({ max: MOST_PREFETCHED, ttl: PREFETCHED_MS });
  /** By their scopes and filters. */
  private readonly filtered = new LRUCache<string, Looked>({
    maxSize: MOST_FILTERED,
    sizeCalculation: ({ documents }) => 1 + (documents?.size ?? 0),
  });

  constructor(db: Database.Database) {
    this.statements = new Statements(db);
    this.layout = layoutOf(db);
    this.text = textOf(this.statements, this.layout);
    this.vectors = vectorsOf(this.statements, this.layout);
  }

  search(query: SearchQuery): readonly SearchHit[] {
    const fetched = query.mode === 'vector' ? undefined : this.fetched(query);
    const looked = fetched?.looked ?? this.looked(query);
    if (isEmpty(looked, query)) return [];
    const wanted = candidatesFor(query.limit);
    const byText = query.mode === 'vector' ? [] : (fetched?.found ?? this.byText(query, looked));
    const byVector = query.mode === 'text' ? [] : this.byVector(query.vector, looked, wanted);
    return this.hits(fused(byText, byVector, query).slice(0, query.limit), looked.scopes);
  }

  scopesWith({ scopes, text }: Pick<SearchQuery, 'scopes' | 'text'>): readonly Scope[] {
    const known = this.statements.rows<{ id: number; scope: Scope }>(
      'select id, scope from scopes where scope in (select value from json_each(?))',
      JSON.stringify(scopes),
    );
    const ids = known.map(({ id }) => id);
    const spellings = new Set([text, withCodesJoined(text)]);
    const found = new Set([...spellings].flatMap((spelling) => this.text.scopesWith(queryTerms(spelling), ids)));
    return known.filter(({ id }) => found.has(id)).map(({ scope }) => scope);
  }

  /** Looks up the words of a query, which the search for it takes. */
  prefetch(query: Omit<SearchQuery, 'vector'>): void {
    const looked = this.looked(query);
    if (query.mode === 'vector' || isEmpty(looked, query)) return;
    this.prefetched.set(keyOf(query), { looked, found: this.byText(query, looked) });
  }

  revisionOf(documentId: string): number | undefined {
    return this.statements.value('select revision from documents where documentId = ?', documentId);
  }

  count(): { readonly documents: number; readonly passages: number } {
    return {
      documents: this.statements.value<number>('select count(*) from documents') as number,
      passages: this.statements.value<number>('select count(*) from passages') as number,
    };
  }

  /** The scopes of a query that have documents, and what its filters leave of these. */
  private looked(query: Omit<SearchQuery, 'vector'>): Looked {
    const { scopes, documentIds, exceptDocumentIds, tagIds } = query;
    const key = JSON.stringify([scopes, documentIds, exceptDocumentIds, tagIds]);
    const state = this.state();
    const known = this.filtered.get(key);
    if (known?.state === state) return known;
    const looked = { state, ...this.lookUp(query) };
    this.filtered.set(key, looked);
    return looked;
  }

  private lookUp({
    scopes: names,
    documentIds,
    exceptDocumentIds,
    tagIds,
  }: Omit<SearchQuery, 'vector'>): Omit<Looked, 'state'> {
    const scopes = this.statements.values<number>(
      'select id from scopes where scope in (select value from json_each(?)) and exists (select 1 from documents where documents.scope = scopes.id)',
      JSON.stringify(names),
    );
    if (documentIds === undefined && exceptDocumentIds === undefined && tagIds === undefined) return { scopes };
    const documents = this.statements
      .get(
        `select id, ${this.layout.words ? 'firstPassage, passageCount' : '0, 0'} from documents where scope in (select value from json_each(@scopes))
         and (@documents is null or documentId in (select value from json_each(@documents)))
         and (@except is null or documentId not in (select value from json_each(@except)))
         and (@tags is null or id in (select document from tags where tagId in (select value from json_each(@tags))))`,
      )
      .raw()
      .all({
        scopes: JSON.stringify(scopes),
        documents: documentIds ? JSON.stringify(documentIds) : null,
        except: exceptDocumentIds ? JSON.stringify(exceptDocumentIds) : null,
        tags: tagIds ? JSON.stringify(tagIds) : null,
      }) as [id: number, first: number, count: number][];
    return {
      scopes,
      documents: new Set(documents.map(([id]) => id)),
      passages: this.layout.words ? new IdRanges(documents.map(([, first, count]) => ({ first, count }))) : undefined,
    };
  }

  private byText({ text, limit }: SearchQuery, looked: Looked): readonly Found<number>[] {
    const terms = queryTerms(text);
    return terms.en.length === 0 ? [] : this.text.find(terms, looked, candidatesFor(limit));
  }

  /** What was prefetched for a query, once, unless something was written since. */
  private fetched(
    query: SearchQuery,
  ): { readonly looked: Looked; readonly found: readonly Found<number>[] } | undefined {
    const key = keyOf(query);
    const known = this.prefetched.get(key);
    this.prefetched.delete(key);
    return known?.looked.state === this.state() ? known : undefined;
  }

  /** Another one whenever this connection, or another one, has written. */
  private state(): string {
    const own = this.statements.value<number>('select total_changes()') as number;
    return `${own}/${this.statements.value<number>('pragma data_version') as number}`;
  }

  private byVector(
    vector: SearchQuery['vector'],
    { scopes, documents }: Looked,
    wanted: number,
  ): readonly Found<number>[] {
    if (vector === undefined) return [];
    const model = this.statements.value<number>(
      'select id from models where model = ? and dimensions = ?',
      vector.model,
      vector.values.length,
    );
    if (model === undefined) return [];
    const values = new Float32Array(vector.values);
    const nearest = this.vectors.nearest({ model, values, scopes, documents }, wanted).slice(0, MAX_CANDIDATES);
    return inOrder(named(this.statements, nearest, this.layout)).slice(0, wanted);
  }

  /** The hits, read with their scopes once more: what the indexes hold by mistake is still not shown to others. */
  private hits(candidates: readonly Candidate<number>[], scopes: readonly number[]): readonly SearchHit[] {
    const rows = this.statements.rows<HitRow>(
      `select passages.id, scopes.id as scopeId, documentId, name as documentName, revision as documentRevision, scopes.scope, chunkId, ordinal, text, headings, "start", "end", page, slide, sheet, "row"
       from passages join documents on documents.id = passages.document join scopes on scopes.id = documents.scope
       where passages.id in (select value from json_each(?)) and enabled = 1`,
      JSON.stringify(candidates.map(({ id }) => id)),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return candidates.flatMap(({ id: candidate, score, textRank, vectorRank }) => {
      const found = byId.get(candidate);
      if (found === undefined || !scopes.includes(found.scopeId)) return [];
      const { id: _id, scopeId: _scope, headings, page, slide, sheet, row, ...hit } = found;
      const place = placeOf({ page, slide, sheet, row });
      return [{ ...hit, headings: JSON.parse(headings) as string[], ...place, score, textRank, vectorRank }];
    });
  }
}

const isEmpty = ({ scopes, documents }: Looked, { limit }: SearchQuery): boolean =>
  scopes.length === 0 || limit < 1 || documents?.size === 0;

/** What the words of a query are looked up by. */
const keyOf = ({ scopes, text, limit, documentIds, exceptDocumentIds, tagIds }: SearchQuery): string =>
  JSON.stringify([scopes, text, limit, documentIds, exceptDocumentIds, tagIds]);
