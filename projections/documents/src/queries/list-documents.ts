import { isErased, normalisedName } from '@app/kernel';
import { type DocumentScope, scopesOf, type SearchingAgent } from '@app/knowledge';
import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type DocumentRow, documents } from '../documents.projection';

export interface DocumentFilter {
  readonly status?: DocumentRow['status'] | undefined;
  readonly tagId?: string | undefined;
  readonly scope?: DocumentScope | undefined;
  /** Text that the name contains, whatever its case. */
  readonly q?: string | undefined;
}

/** The documents that an Agent can search, newest first. */
export class ListDocuments extends Query<RowPage<DocumentRow>> {
  constructor(
    readonly agent: SearchingAgent,
    readonly filter: DocumentFilter,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListDocuments)
export class ListDocumentsHandler implements IQueryHandler<ListDocuments> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ agent, filter, page }: ListDocuments): Promise<RowPage<DocumentRow>> {
    const wanted = filter.q === undefined ? undefined : normalisedName(filter.q);
    const matches = ({ status, scope, tagIds, name }: DocumentRow): boolean =>
      (filter.status === undefined || status === filter.status) &&
      (filter.scope === undefined || scope === filter.scope) &&
      (filter.tagId === undefined || tagIds.includes(filter.tagId)) &&
      (wanted === undefined || (!isErased(name) && normalisedName(name).includes(wanted)));
    const options = {
      where: { place: { in: [...scopesOf(agent)] } },
      orderBy: [{ field: 'createdAt', order: 'desc' as const }],
    };
    return matchingPage<DocumentRow>(this.store, documents.name, options, matches, page);
  }
}
