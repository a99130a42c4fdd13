import { isErased, normalisedName } from '@app/kernel';
import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type EntryRow, skillEntries } from '../entries.projection';

/** Entries of the marketplace, newest first. `q`: text that name, slug or description contains, whatever its case. */
export class ListEntries extends Query<RowPage<EntryRow>> {
  constructor(
    readonly status: EntryRow['status'],
    readonly q: string | undefined,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListEntries)
export class ListEntriesHandler implements IQueryHandler<ListEntries> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ status, q, page }: ListEntries): Promise<RowPage<EntryRow>> {
    const wanted = q === undefined ? undefined : normalisedName(q);
    const matches = ({ name, slug, description }: EntryRow): boolean =>
      wanted === undefined ||
      [name, slug, description].some((text) => !isErased(text) && normalisedName(text).includes(wanted));
    return matchingPage<EntryRow>(this.store, skillEntries.name, [{ status }], matches, page);
  }
}
