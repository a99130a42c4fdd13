import { isErased, normalisedName } from '@app/kernel';
import { type DocumentScope, scopesOf, type SearchingAgent } from '@app/knowledge';
import { matchingPage, newestOf, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { plainLetters } from '@app/search-index';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type DocumentRow, documents } from '../documents.projection';

export interface DocumentFilter {
  readonly status?: DocumentRow['status'] | undefined;
  readonly tagId?: string | undefined;
  readonly scope?: DocumentScope | undefined;
  /** Text that the name contains, whatever its case, and whichever way it writes umlauts. */
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

  async execute({ agent, filter, page }: ListDocuments): Promise<RowPage<DocumentRow>> {
    const places = placesOf(agent, filter.scope);
    const { status } = filter;
    if (status === undefined) return this.pageOf(places, filter, page);
    try {
      return await this.pageOf(
        places.map((place) => ({ ...place, status })),
        filter,
        page,
      );
    } catch (error) {
      // A build of an earlier version, which answers until this version's is whole, may lack the index.
      if (!(error instanceof RangeError)) throw error;
      return this.pageOf(places, filter, page);
    }
  }

  /** An index serves places and states; tags and names are looked for among what it gives. */
  private pageOf(
    lists: readonly Partial<Pick<DocumentRow, 'place' | 'status'>>[],
    { status, tagId, q }: DocumentFilter,
    page: PageRequest,
  ): Promise<RowPage<DocumentRow>> {
    const wanted = q === undefined ? undefined : nameHolds(q);
    const isServed = tagId === undefined && wanted === undefined && lists.every((list) => list.status === status);
    if (isServed) return newestOf<DocumentRow>(this.store, documents.name, lists, page);
    const matches = (row: DocumentRow): boolean =>
      (status === undefined || row.status === status) &&
      (tagId === undefined || row.tagIds.includes(tagId)) &&
      (wanted === undefined || (!isErased(row.name) && wanted(row.name)));
    return matchingPage<DocumentRow>(this.store, documents.name, lists, matches, page);
  }
}

const nameHolds = (text: string): ((name: string) => boolean) => {
  const [asked, plain] = [normalisedName(text), plainLetters(text)];
  return (name) => normalisedName(name).includes(asked) || (plain !== '' && plainLetters(name).includes(plain));
};

/** Where the documents stand that an Agent can search, one list a level. */
const placesOf = (agent: SearchingAgent, scope: DocumentScope | undefined): readonly { readonly place: string }[] => {
  const [ofAgent, ofSpace, global] = scopesOf(agent) as [string, string, string];
  const places = { agent: ofAgent, space: ofSpace, global };
  return scope === undefined ? Object.values(places).map((place) => ({ place })) : [{ place: places[scope] }];
};
