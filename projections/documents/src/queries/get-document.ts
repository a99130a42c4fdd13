import { refuse } from '@app/kernel';
import { scopesOf, type SearchingAgent } from '@app/knowledge';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type DocumentRow, documents } from '../documents.projection';

/** A document that an Agent can search. Refuses with `not_found`, also for documents of other Agents and Spaces. */
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
    const row = (await this.store.get(documents.name, documentId))?.row as DocumentRow | undefined;
    return row !== undefined && scopesOf(agent).includes(row.place) ? row : refuse('not_found');
  }
}
