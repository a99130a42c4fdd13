import { reject } from '@app/kernel';
import { scopesOf, type SearchingAgent } from '@app/knowledge';
import { READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type DocumentRow, documents } from '../documents.projection';

/** A document that an Agent can search. Rejects with `not_found`, also for documents of other Agents and Spaces. */
export class GetDocument extends Query<DocumentRow> {
  constructor(
    readonly agent: SearchingAgent,
    readonly documentId: string,
  ) {
    super();
  }
}

@QueryHandler(GetDocument)
export class GetDocumentHandler implements IQueryHandler<GetDocument> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ agent, documentId }: GetDocument): Promise<DocumentRow> {
    return (await found(this.store, agent, documentId)) ?? reject('not_found', { kind: 'document', id: documentId });
  }
}

/** As `GetDocument`; undefined where that rejects. */
export class FindDocument extends Query<DocumentRow | undefined> {
  constructor(
    readonly agent: SearchingAgent,
    readonly documentId: string,
  ) {
    super();
  }
}

@QueryHandler(FindDocument)
export class FindDocumentHandler implements IQueryHandler<FindDocument> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ agent, documentId }: FindDocument): Promise<DocumentRow | undefined> {
    return found(this.store, agent, documentId);
  }
}

/** Those of the documents that an Agent can search, by id. */
export class FindDocuments extends Query<ReadonlyMap<string, DocumentRow>> {
  constructor(
    readonly agent: SearchingAgent,
    readonly documentIds: readonly string[],
  ) {
    super();
  }
}

@QueryHandler(FindDocuments)
export class FindDocumentsHandler implements IQueryHandler<FindDocuments> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ agent, documentIds }: FindDocuments): Promise<ReadonlyMap<string, DocumentRow>> {
    const rows = (await this.store.getMany(documents.name, documentIds)) as readonly StoredRow<DocumentRow>[];
    const scopes = scopesOf(agent);
    return new Map(rows.filter(({ row }) => scopes.includes(row.place)).map(({ key, row }) => [key, row]));
  }
}

const found = async (
  store: Pick<ReadStore, 'get'>,
  agent: SearchingAgent,
  documentId: string,
): Promise<DocumentRow | undefined> => {
  const row = (await store.get(documents.name, documentId))?.row as DocumentRow | undefined;
  return row !== undefined && scopesOf(agent).includes(row.place) ? row : undefined;
};
