import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type SpaceRow, spaces } from '../spaces.projection';

/** Throws `not_found`. */
export class GetSpace extends Query<SpaceRow> {
  constructor(readonly spaceId: string) {
    super();
  }
}

@QueryHandler(GetSpace)
export class GetSpaceHandler implements IQueryHandler<GetSpace> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ spaceId }: GetSpace): Promise<SpaceRow> {
    return (
      ((await this.store.get(spaces.name, spaceId))?.row as SpaceRow | undefined) ??
      reject('not_found', { kind: 'space', id: spaceId })
    );
  }
}
