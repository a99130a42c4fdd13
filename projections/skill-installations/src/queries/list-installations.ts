import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type InstallationRow, skillInstallations } from '../installations.projection';

/** Those installations of an entry that `isSeen` says somebody may see, newest first. */
export class ListInstallations extends Query<RowPage<InstallationRow>> {
  constructor(
    readonly entryId: string,
    readonly isSeen: (row: InstallationRow) => Promise<boolean>,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListInstallations)
export class ListInstallationsHandler implements IQueryHandler<ListInstallations> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ entryId, isSeen, page }: ListInstallations): Promise<RowPage<InstallationRow>> {
    return matchingPage<InstallationRow>(this.store, skillInstallations.name, [{ entryId }], isSeen, page);
  }
}
