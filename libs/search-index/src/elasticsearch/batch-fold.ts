import { never, type Position } from '@app/kernel';
import type { IndexedDocument, Passage, Scope, SearchBatch, SearchOperation } from '../search-index';
import { checkVector, type DocumentRecord, type PresentDocument } from './records';

/** The outcome of a batch for a document. */
export interface DocumentChange {
  readonly record: DocumentRecord;
  /** The passages to write, if any: given or stored ones, with the document's current name, scope and tags. */
  readonly passages: readonly Passage[] | 'none' | 'stored';
}

type Fields = Partial<Pick<IndexedDocument, 'name' | 'tagIds' | 'revision'>>;

/**
 * Folds a batch into what becomes of each document, so that each is written once. Operations that an index has gone beyond
 * are passed over; those that it stands at are done again, since they may have broken off. Touches no server.
 */
export class BatchFold {
  private readonly changed = new Map<string, DocumentChange>();

  constructor(
    /** Stored documents that the batch names, and those in the scopes that it removes. */
    private readonly stored: ReadonlyMap<string, DocumentRecord>,
    /** Removed scopes, each with the position of its last removal. */
    private readonly removedScopes: ReadonlyMap<Scope, Position>,
  ) {}

  apply(changes: SearchBatch['changes']): void {
    for (const { position, operations } of changes)
      for (const operation of operations) this.operation(operation, position);
  }

  get changes(): readonly DocumentChange[] {
    return [...this.changed.values()];
  }

  private operation(operation: SearchOperation, position: Position): void {
    switch (operation.op) {
      case 'putDocument':
        return this.put(operation.document, position);
      case 'patchDocument':
        return this.patch(operation.documentId, operation.fields, position);
      case 'removeDocument':
        return this.remove(operation.documentId, position);
      case 'removeScope':
        return this.removeScope(operation.scope, position);
      default:
        return never(operation);
    }
  }

  private put({ documentId, passages, tagIds, ...document }: IndexedDocument, position: Position): void {
    for (const passage of passages) checkVector(passage);
    const before = this.record(documentId);
    if (before !== undefined && before.at > position) return;
    const present = {
      ...document,
      tagIds: [...new Set(tagIds)].toSorted(),
      passages: passages.length,
      ownIds: true as const,
      put: position,
      since: position,
    };
    this.keep(documentId, present, position, passages);
  }

  private patch(documentId: string, fields: Fields, position: Position): void {
    const before = this.record(documentId);
    const present = before?.document.present;
    if (before === undefined || present === undefined || before.at > position) return;
    const tagIds = fields.tagIds === undefined ? present.tagIds : [...new Set(fields.tagIds)].toSorted();
    const patched = { ...present, ...fields, tagIds };
    const passages = this.changed.get(documentId)?.passages ?? 'none';
    const same =
      before.at !== position &&
      patched.name === present.name &&
      patched.tagIds.join('\n') === present.tagIds.join('\n');
    this.keep(documentId, patched, position, passages === 'none' && !same ? 'stored' : passages);
  }

  private remove(documentId: string, position: Position): void {
    const before = this.record(documentId);
    if (before === undefined || before.at > position || (before.removed && before.at !== position)) return;
    const record = { kind: 'document', documentId, at: position, removed: true, document: {} } as const;
    this.changed.set(documentId, { record, passages: 'none' });
  }

  private removeScope(scope: Scope, position: Position): void {
    for (const documentId of new Set([...this.stored.keys(), ...this.changed.keys()])) {
      const { at, document } = this.record(documentId) as DocumentRecord;
      if (document.present?.scope === scope && document.present.since < position)
        this.remove(documentId, at > position ? at : position);
    }
  }

  private keep(
    documentId: string,
    present: PresentDocument,
    position: Position,
    passages: DocumentChange['passages'],
  ): void {
    this.changed.set(documentId, {
      record: {
        kind: 'document',
        documentId,
        at: position,
        removed: false,
        scope: present.scope,
        document: { present },
      },
      passages,
    });
    const removed = this.removedScopes.get(present.scope);
    if (removed !== undefined && removed > present.since) this.remove(documentId, position);
  }

  private record(documentId: string): DocumentRecord | undefined {
    return this.changed.get(documentId)?.record ?? this.stored.get(documentId);
  }
}
