import { READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type TagRow, tags } from '../tags.projection';

/** Tags by id; those that are gone are left out. */
export class TagsById extends Query<ReadonlyMap<string, TagRow>> {
  constructor(readonly tagIds: readonly string[]) {
    super();
  }
}

@QueryHandler(TagsById)
export class TagsByIdHandler implements IQueryHandler<TagsById> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ tagIds }: TagsById): Promise<ReadonlyMap<string, TagRow>> {
    if (tagIds.length === 0) return new Map();
    const rows = (await this.store.getMany(tags.name, [...new Set(tagIds)])) as readonly StoredRow<TagRow>[];
    return new Map(rows.map(({ key, row }) => [key, row]));
  }
}
