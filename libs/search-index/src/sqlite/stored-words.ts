import type { Language } from '../language/terms';
import type { Statements } from './statements';
import { countsOf, WordLists } from './word-lists';

/** A document as its words are stored: of what language it is, where it stands, and the stems of each part of it, with spaces between them. */
export interface WordedDocument {
  readonly id: number;
  readonly scope: number;
  readonly language: Language;
  readonly terms: readonly string[];
  /** Its passages that are enabled. */
  readonly passages: readonly { readonly id: number; readonly terms: readonly string[] }[];
}

/** The words of one version of an index. */
export interface Words {
  /** They can be found once they are flushed. */
  put(document: WordedDocument): void;
  /** Writes what was put. */
  flush(): void;
  /** Forgets what was put and not written. */
  forget(): void;
  remove(document: { readonly id: number; readonly scope: number }, passages: readonly number[]): void;
}

/** Words in lists, and of each document the words that it stands in the lists of. */
export class StoredWords implements Words {
  private readonly passages: WordLists;
  private readonly documents: WordLists;

  constructor(private readonly statements: Statements) {
    this.passages = new WordLists(statements, 'passage_words');
    this.documents = new WordLists(statements, 'document_words');
  }

  put({ id, scope, terms, passages }: WordedDocument): void {
    const rows = passages.map((passage) => ({ id: passage.id, counts: countsOf(passage.terms) }));
    const counts = countsOf(terms);
    this.passages.put(scope, rows);
    this.documents.put(scope, [{ id, counts }]);
    const words = new Set([counts, ...rows.map((row) => row.counts)].flatMap((each) => [...each.keys()]));
    this.statements.run('insert into words_of(document, words) values (?, ?)', id, [...words].join(' '));
  }

  flush(): void {
    this.passages.flush();
    this.documents.flush();
  }

  forget(): void {
    this.passages.forget();
    this.documents.forget();
  }

  /** By the words that were stored with it, not by those that its text would have now. */
  remove({ id, scope }: { readonly id: number; readonly scope: number }, passages: readonly number[]): void {
    const words = this.statements.value<string>('select words from words_of where document = ?', id) ?? '';
    const each = words === '' ? [] : words.split(' ');
    this.passages.remove(scope, passages, each);
    this.documents.remove(scope, [id], each);
    this.statements.run('delete from words_of where document = ?', id);
  }
}
