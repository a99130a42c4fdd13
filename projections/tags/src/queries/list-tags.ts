import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type TagRow, tags } from '../tags.projection';

/** The tags of a Space, newest first. */
export class ListTags extends Query<RowPage<TagRow>> {
  constructor(
    readonly spaceId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListTags)
export class ListTagsHandler implements IQueryHandler<ListTags> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ spaceId, page }: ListTags): Promise<RowPage<TagRow>> {
    return findPage<TagRow>(
      this.store,
      tags.name,
      { where: { spaceId }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      page,
    );
  }
}
