import { type Layout, scopeToken } from './layout';
import type { Statements } from './statements';
import type { WordedDocument, Words } from './stored-words';

/** Words as earlier versions stored them, in full-text tables of FTS5: such a file goes on until it is rebuilt. */
export class LegacyWords implements Words {
  constructor(
    private readonly statements: Statements,
    private readonly layout: Layout,
  ) {}

  put(document: WordedDocument): void {
    for (const { id, terms } of document.passages) this.insert('terms', id, document, terms);
    if (this.layout.wholes) this.insert('wholes', document.id, document, document.terms);
  }

  flush(): void {}

  forget(): void {}

  remove({ id }: { readonly id: number }, passages: readonly number[]): void {
    for (const passage of passages) this.statements.run('delete from terms where rowid = ?', passage);
    if (this.layout.wholes) this.statements.run('delete from wholes where rowid = ?', id);
  }

  private insert(
    table: 'terms' | 'wholes',
    id: number,
    { scope, language }: WordedDocument,
    terms: readonly string[],
  ): void {
    const column = !this.layout.wholes ? 'body' : language === 'de' ? 'german' : 'english';
    const text = terms.join(' ');
    if (this.layout.ranges) this.statements.run(`insert into ${table}(rowid, ${column}) values (?, ?)`, id, text);
    else
      this.statements.run(
        `insert into ${table}(rowid, ${column}, scope) values (?, ?, ?)`,
        id,
        text,
        scopeToken(scope),
      );
  }
}
