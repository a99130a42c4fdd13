import type Database from 'better-sqlite3';
import { never } from '@app/kernel';
import { indexedTerms, type Language, languageOf } from '../language/terms';
import type { IndexedDocument, Passage, Scope, SearchOperation } from '../search-index';
import { hasWholes, scopeToken, vectorTable } from './index-file';
import { storedDocument } from './stored-document';

/** What the full-text index holds of a passage or a document. */
interface Indexed {
  readonly scopeId: number;
  readonly language: Language;
  readonly terms: string;
}

/** Applies operations to one version of an index, inside the caller's transaction. */
export class IndexWriter {
  private readonly statements = new Map<string, Database.Statement>();

  private readonly hasWholes: boolean;

  constructor(private readonly db: Database.Database) {
    this.hasWholes = hasWholes(db);
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
    const document = this.run(
      'insert into documents(documentId, name, scope, revision, model, language) values (?, ?, ?, ?, ?, ?)',
      documentId,
      name,
      scopeId,
      revision,
      embeddingModel,
      language,
    ).lastInsertRowid;
    for (const tagId of new Set(tagIds)) this.run('insert into tags values (?, ?)', document, tagId);
    const nameTerms = indexedTerms([name], language);
    const whole = [nameTerms];
    let above: readonly string[] = [];
    for (const passage of passages) {
      const headings = indexedTerms(passage.headings, language);
      const text = indexedTerms([passage.text], language);
      const terms = [nameTerms, headings, text].join(' ');
      this.putPassage(passage, { document, scopeId, embeddingModel, language, terms });
      if (!passage.enabled) continue;
      const isSame =
        passage.headings.length === above.length && above.every((each, at) => each === passage.headings[at]);
      whole.push(...(isSame ? [] : [headings]), text);
      above = passage.headings;
    }
    if (this.hasWholes) this.putTerms('wholes', document, { scopeId, language, terms: whole.join(' ') });
  }

  private putPassage(
    passage: Passage,
    of: { document: number | bigint; embeddingModel: string | null } & Indexed,
  ): void {
    const { chunkId, ordinal, text, headings, start, end, enabled, vector } = passage;
    const { page = null, slide = null, sheet = null, row = null } = passage;
    const model =
      of.embeddingModel === null || vector === undefined ? null : this.modelId(of.embeddingModel, vector.length);
    const id = this.run(
      'insert into passages(document, ordinal, chunkId, text, headings, "start", "end", page, slide, sheet, "row", enabled, vectors) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
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
    ).lastInsertRowid;
    if (enabled) this.putTerms('terms', id, of);
    // What is disabled keeps its vector under no scope at all: no search names it.
    if (model !== null && vector !== undefined)
      this.run(
        `insert into ${vectorTable(model)}(rowid, scope, embedding) values (?, ?, ?)`,
        BigInt(id),
        BigInt(enabled ? of.scopeId : 0),
        new Float32Array(vector),
      );
  }

  private putTerms(table: 'terms' | 'wholes', id: number | bigint, { scopeId, language, terms }: Indexed): void {
    const column = !this.hasWholes ? 'body' : language === 'de' ? 'german' : 'english';
    this.run(`insert into ${table}(rowid, ${column}, scope) values (?, ?, ?)`, id, terms, scopeToken(scopeId));
  }

  private patch(
    documentId: string,
    fields: Partial<Pick<IndexedDocument, 'name' | 'scope' | 'tagIds' | 'revision'>>,
  ): void {
    const document = storedDocument(this.db, documentId);
    if (document === undefined) return;
    const patched = { ...document, ...fields };
    if (patched.name !== document.name || patched.scope !== document.scope) {
      this.remove(documentId);
      return this.put(patched);
    }
    const id = this.documentRow(documentId) as number;
    this.run('update documents set revision = ? where id = ?', patched.revision, id);
    this.run('delete from tags where document = ?', id);
    for (const tagId of new Set(patched.tagIds)) this.run('insert into tags values (?, ?)', id, tagId);
  }

  private remove(documentId: string): void {
    const document = this.documentRow(documentId);
    if (document === undefined) return;
    for (const { id, vectors } of this.statement('select id, vectors from passages where document = ?').all(
      document,
    ) as { id: number; vectors: number | null }[]) {
      this.run('delete from terms where rowid = ?', id);
      if (vectors !== null) this.run(`delete from ${vectorTable(vectors)} where rowid = ?`, BigInt(id));
    }
    if (this.hasWholes) this.run('delete from wholes where rowid = ?', document);
    this.run('delete from passages where document = ?', document);
    this.run('delete from tags where document = ?', document);
    this.run('delete from documents where id = ?', document);
    this.run('update head set loose = 1');
  }

  private removeScope(scope: Scope): void {
    const documents = this.statement(
      'select documentId from documents join scopes on scopes.id = documents.scope where scopes.scope = ?',
    )
      .pluck()
      .all(scope) as string[];
    for (const documentId of documents) this.remove(documentId);
  }

  private documentRow(documentId: string): number | undefined {
    return this.statement('select id from documents where documentId = ?').pluck().get(documentId) as
      number | undefined;
  }

  private scopeId(scope: Scope): number {
    this.run('insert into scopes(scope) values (?) on conflict do nothing', scope);
    return this.statement('select id from scopes where scope = ?').pluck().get(scope) as number;
  }

  /** Vectors are compared within one model and length only, so each has a table of its own. */
  private modelId(model: string, dimensions: number): number {
    const known = this.statement('select id from models where model = ? and dimensions = ?')
      .pluck()
      .get(model, dimensions) as number | undefined;
    if (known !== undefined) return known;
    const id = Number(
      this.run('insert into models(model, dimensions) values (?, ?)', model, dimensions).lastInsertRowid,
    );
    // Small chunks, since every scope fills chunks of its own.
    this.db.exec(
      `create virtual table ${vectorTable(id)} using vec0(scope integer partition key, embedding float[${dimensions}] distance_metric=cosine, chunk_size=128)`,
    );
    return id;
  }

  private run(sql: string, ...parameters: readonly unknown[]): Database.RunResult {
    return this.statement(sql).run(...parameters);
  }

  private statement(sql: string): Database.Statement {
    const known = this.statements.get(sql) ?? this.db.prepare(sql);
    this.statements.set(sql, known);
    return known;
  }
}
