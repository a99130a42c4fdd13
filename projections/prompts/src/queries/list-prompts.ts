import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type PromptRow, prompts } from '../prompts.projection';

/** The prompt library of a Space, newest first. */
export class ListPrompts extends Query<RowPage<PromptRow>> {
  constructor(
    readonly spaceId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListPrompts)
export class ListPromptsHandler implements IQueryHandler<ListPrompts> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ spaceId, page }: ListPrompts): Promise<RowPage<PromptRow>> {
    return findPage<PromptRow>(
      this.store,
      prompts.name,
      { where: { spaceId }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      page,
    );
  }
}
