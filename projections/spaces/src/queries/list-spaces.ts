import { newestOf, type PageRequest, READ_STORE, type ReadStore, type RowPage, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { spacesOfUser } from '@projections/space-members';
import { type SpaceRow, spaces } from '../spaces.projection';

/** Spaces, newest first: those a user is a member of, and every team Space on request. */
export class ListSpaces extends Query<RowPage<SpaceRow>> {
  constructor(
    readonly userId: string,
    readonly everyTeam: boolean,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListSpaces)
export class ListSpacesHandler implements IQueryHandler<ListSpaces> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ userId, everyTeam, page }: ListSpaces): Promise<RowPage<SpaceRow>> {
    const named = (await this.store.getMany(
      spaces.name,
      await spacesOfUser(this.store, userId),
    )) as readonly StoredRow<SpaceRow>[];
    return newestOf<SpaceRow>(
      this.store,
      spaces.name,
      everyTeam ? [{ kind: 'team' }] : [],
      page,
      everyTeam ? named.filter(({ row }) => row.kind !== 'team') : named,
    );
  }
}
