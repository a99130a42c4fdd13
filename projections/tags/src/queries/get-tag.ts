import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type TagRow, tags } from '../tags.projection';

/** A tag of a Space. Rejects with `not_found`. */
export class GetTag extends Query<TagRow> {
  constructor(
    readonly spaceId: string,
    readonly tagId: string,
  ) {
    super();
  }
}

@QueryHandler(GetTag)
export class GetTagHandler implements IQueryHandler<GetTag> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ spaceId, tagId }: GetTag): Promise<TagRow> {
    const row = (await this.store.get(tags.name, tagId))?.row as TagRow | undefined;
    return row?.spaceId === spaceId ? row : reject('not_found', { kind: 'tag', id: tagId });
  }
}
