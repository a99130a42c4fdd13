import type Database from 'better-sqlite3';
import { never } from '@app/kernel';
import { indexedTerms, type Language, languageOf } from '../language/terms';
import type { IndexedDocument, Passage, Scope, SearchOperation } from '../search-index';
import { idsOfScope, type Layout, layoutOf, scopeToken, vectorsOf } from './index-file';
import { Statements } from './statements';
import { storedDocument } from './stored-document';
import type { StoredVector, Vectors } from './vectors';

/** What the full-text index holds of a passage or a document. */
interface Indexed {
  readonly scopeId: number;
  readonly language: Language;
  readonly terms: string;
}

/** Applies operations to one version of an index, inside the caller's transaction. */
export class IndexWriter {
  private readonly statements: Statements;
  private readonly layout: Layout;
  private readonly vectors: Vectors;

  constructor(db: Database.Database) {
    this.statements = new Statements(db);
    this.layout = layoutOf(db);
    this.vectors = vectorsOf(this.statements, this.layout);
  }

  apply(operation: SearchOperation): void {
    switch (operation.op) {
      case 'putDocument':
        this.remove(operation.document.documentId);
        return this.put(operation.document);
      case 'patchDocument':
        return this.patch(operation.documentId, operation.fields);
      case 'removeDocument':
        return this.remove(operation.documentId);
      case 'removeScope':
        return this.removeScope(operation.scope);
      default:
        return never(operation);
    }
  }

  private put({ documentId, name, scope, tagIds, revision, embeddingModel, passages }: IndexedDocument): void {
    const scopeId = this.scopeId(scope);
    const language = languageOf(passages.map(({ text }) => text));
    const document = this.statements.run(
      'insert into documents(id, documentId, name, scope, revision, model, language) values (?, ?, ?, ?, ?, ?, ?)',
      this.nextId('documents', scopeId),
      documentId,
      name,
      scopeId,
      revision,
      embeddingModel,
      language,
    ).lastInsertRowid as number;
    for (const tagId of new Set(tagIds)) this.statements.run('insert into tags values (?, ?)', document, tagId);
    const nameTerms = indexedTerms([name], language);
    const whole = [nameTerms];
    const vectors: StoredVector[] = [];
    let above: readonly string[] = [];
    for (const passage of passages) {
      const headings = indexedTerms(passage.headings, language);
      const text = indexedTerms([passage.text], language);
      const terms = [nameTerms, headings, text].join(' ');
      vectors.push(...this.putPassage(passage, { document, scopeId, embeddingModel, language, terms }));
      if (!passage.enabled) continue;
      const isSame =
        passage.headings.length === above.length && above.every((each, at) => each === passage.headings[at]);
      whole.push(...(isSame ? [] : [headings]), text);
      above = passage.headings;
    }
    this.vectors.put({ id: document, scope: scopeId }, vectors);
    if (this.layout.wholes) this.putTerms('wholes', document, { scopeId, language, terms: whole.join(' ') });
  }

  /** Its vector, where it has one of a model that is known. */
  private putPassage(
    passage: Passage,
    of: { document: number; embeddingModel: string | null } & Indexed,
  ): readonly StoredVector[] {
    const { chunkId, ordinal, text, headings, start, end, enabled, vector } = passage;
    const { page = null, slide = null, sheet = null, row = null } = passage;
    const model =
      of.embeddingModel === null || vector === undefined ? null : this.modelId(of.embeddingModel, vector.length);
    const id = this.statements.run(
      'insert into passages(id, document, ordinal, chunkId, text, headings, "start", "end", page, slide, sheet, "row", enabled, vectors) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      this.nextId('passages', of.scopeId),
      of.document,
      ordinal,
      chunkId,
      text,
      JSON.stringify(headings),
      start,
      end,
      page,
      slide,
      sheet,
      row,
      enabled ? 1 : 0,
      model,
    ).lastInsertRowid as number;
    if (enabled) this.putTerms('terms', id, of);
    return model === null || vector === undefined
      ? []
      : [{ passage: id, model, enabled, values: new Float32Array(vector) }];
  }

  private putTerms(table: 'terms' | 'wholes', id: number, { scopeId, language, terms }: Indexed): void {
    const column = !this.layout.wholes ? 'body' : language === 'de' ? 'german' : 'english';
    if (this.layout.ranges) this.statements.run(`insert into ${table}(rowid, ${column}) values (?, ?)`, id, terms);
    else
      this.statements.run(
        `insert into ${table}(rowid, ${column}, scope) values (?, ?, ?)`,
        id,
        terms,
        scopeToken(scopeId),
      );
  }

  /** The id of a scope's next row; null: whichever comes. */
  private nextId(table: 'documents' | 'passages', scope: number): number | null {
    if (!this.layout.ranges) return null;
    const [first, last] = idsOfScope(scope);
    const newest = this.statements.value<number>(
      `select id from ${table} where id between ? and ? order by id desc limit 1`,
      first,
      last,
    );
    const next = newest === undefined ? first : newest + 1;
    if (next > last) throw new RangeError(`an index holds ${last - first + 1} ${table} of one level at most`);
    return next;
  }

  private patch(
    documentId: string,
    fields: Partial<Pick<IndexedDocument, 'name' | 'scope' | 'tagIds' | 'revision'>>,
  ): void {
    const document = storedDocument(this.statements, this.vectors, documentId);
    if (document === undefined) return;
    const patched = { ...document, ...fields };
    if (patched.name !== document.name || patched.scope !== document.scope) {
      this.remove(documentId);
      return this.put(patched);
    }
    const id = this.documentRow(documentId) as number;
    this.statements.run('update documents set revision = ? where id = ?', patched.revision, id);
    this.statements.run('delete from tags where document = ?', id);
    for (const tagId of new Set(patched.tagIds)) this.statements.run('insert into tags values (?, ?)', id, tagId);
  }

  private remove(documentId: string): void {
    const document = this.documentRow(documentId);
    if (document === undefined) return;
    const passages = this.statements.rows<{ passage: number; model: number | null }>(
      'select id as passage, vectors as model from passages where document = ?',
      document,
    );
    for (const { passage } of passages) this.statements.run('delete from terms where rowid = ?', passage);
    this.vectors.remove(
      document,
      passages.flatMap(({ passage, model }) => (model === null ? [] : [{ passage, model }])),
    );
    if (this.layout.wholes) this.statements.run('delete from wholes where rowid = ?', document);
    this.statements.run('delete from passages where document = ?', document);
    this.statements.run('delete from tags where document = ?', document);
    this.statements.run('delete from documents where id = ?', document);
    this.statements.run('update head set loose = 1');
  }

  private removeScope(scope: Scope): void {
    const documents = this.statements.values<string>(
      'select documentId from documents join scopes on scopes.id = documents.scope where scopes.scope = ?',
      scope,
    );
    for (const documentId of documents) this.remove(documentId);
  }

  private documentRow(documentId: string): number | undefined {
    return this.statements.value('select id from documents where documentId = ?', documentId);
  }

  private scopeId(scope: Scope): number {
    this.statements.run('insert into scopes(scope) values (?) on conflict do nothing', scope);
    return this.statements.value<number>('select id from scopes where scope = ?', scope) as number;
  }

  /** Vectors are compared within one model and length only. */
  private modelId(model: string, dimensions: number): number {
    const known = this.statements.value<number>(
      'select id from models where model = ? and dimensions = ?',
      model,
      dimensions,
    );
    if (known !== undefined) return known;
    const id = this.statements.run('insert into models(model, dimensions) values (?, ?)', model, dimensions)
      .lastInsertRowid as number;
    this.vectors.prepare(id, dimensions);
    return id;
  }
}
