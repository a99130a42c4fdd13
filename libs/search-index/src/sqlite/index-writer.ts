import type Database from 'better-sqlite3';
import { never } from '@app/kernel/threads';
import { indexedTerms, languageOf } from '../language/terms';
import type { IndexedDocument, Passage, Scope, SearchOperation } from '../search-index';
import { vectorsOf, wordsOf } from './index-file';
import { idsOfScope, type Layout, layoutOf } from './layout';
import { Statements } from './statements';
import { storedDocument } from './stored-document';
import type { Words } from './stored-words';
import type { Vectors } from './vectors';

/** Applies operations to one version of an index, inside the caller's transaction. */
export class IndexWriter {
  private readonly statements: Statements;
  private readonly layout: Layout;
  private readonly words: Words;
  private readonly vectors: Vectors;

  constructor(db: Database.Database) {
    this.statements = new Statements(db);
    this.layout = layoutOf(db);
    this.words = wordsOf(this.statements, this.layout);
    this.vectors = vectorsOf(this.statements, this.layout);
  }

  apply(operations: Iterable<SearchOperation>): void {
    try {
      for (const operation of operations) this.applyOne(operation);
      this.words.flush();
    } finally {
      this.words.forget();
    }
  }

  private applyOne(operation: SearchOperation): void {
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
    const stored: { readonly id: number; readonly passage: Passage; readonly terms: readonly string[] }[] = [];
    let above: readonly string[] = [];
    for (const passage of passages) {
      const headings = indexedTerms(passage.headings, language);
      const text = indexedTerms([passage.text], language);
      const id = this.putPassage(passage, { document, scopeId, embeddingModel });
      stored.push({ id, passage, terms: [nameTerms, headings, text] });
      if (!passage.enabled) continue;
      const isSame =
        passage.headings.length === above.length && above.every((each, at) => each === passage.headings[at]);
      whole.push(...(isSame ? [] : [headings]), text);
      above = passage.headings;
    }
    if (this.layout.words)
      this.statements.run(
        'update documents set firstPassage = ?, passageCount = ? where id = ?',
        stored[0]?.id ?? 0,
        stored.length,
        document,
      );
    this.vectors.put(
      { id: document, scope: scopeId },
      stored.flatMap(({ id, passage: { enabled, vector } }) =>
        embeddingModel === null || vector === undefined
          ? []
          : [
              {
                passage: id,
                model: this.modelId(embeddingModel, vector.length),
                enabled,
                values: new Float32Array(vector),
              },
            ],
      ),
    );
    this.words.put({
      id: document,
      scope: scopeId,
      language,
      terms: whole,
      passages: stored.filter(({ passage }) => passage.enabled),
    });
  }

  private putPassage(
    { chunkId, ordinal, text, headings, start, end, enabled, vector, ...place }: Passage,
    { document, scopeId, embeddingModel }: { document: number; scopeId: number; embeddingModel: string | null },
  ): number {
    const { page = null, slide = null, sheet = null, row = null } = place;
    return this.statements.run(
      'insert into passages(id, document, ordinal, chunkId, text, headings, "start", "end", page, slide, sheet, "row", enabled, vectors) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      this.nextId('passages', scopeId),
      document,
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
      embeddingModel === null || vector === undefined ? null : this.modelId(embeddingModel, vector.length),
    ).lastInsertRowid as number;
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

  private patch(documentId: string, fields: Partial<Pick<IndexedDocument, 'name' | 'tagIds' | 'revision'>>): void {
    const document = storedDocument(this.statements, this.vectors, documentId);
    if (document === undefined) return;
    const patched = { ...document, ...fields };
    if (patched.name !== document.name) {
      this.remove(documentId);
      return this.put(patched);
    }
    const id = this.documentRow(documentId) as number;
    this.statements.run('update documents set revision = ? where id = ?', patched.revision, id);
    this.statements.run('delete from tags where document = ?', id);
    for (const tagId of new Set(patched.tagIds)) this.statements.run('insert into tags values (?, ?)', id, tagId);
  }

  private remove(documentId: string): void {
    const found = this.statements.get('select id, scope from documents where documentId = ?').get(documentId) as
      { readonly id: number; readonly scope: number } | undefined;
    if (found === undefined) return;
    const document = found.id;
    const passages = this.statements.rows<{ passage: number; model: number | null }>(
      'select id as passage, vectors as model from passages where document = ?',
      document,
    );
    this.words.remove(
      found,
      passages.map(({ passage }) => passage),
    );
    this.vectors.remove(
      document,
      passages.flatMap(({ passage, model }) => (model === null ? [] : [{ passage, model }])),
    );
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
