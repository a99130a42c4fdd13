import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type MessageRow, messages } from '../messages.projection';

/** The messages of a conversation, newest first. The caller has checked whose conversation it is. */
export class ListMessages extends Query<RowPage<MessageRow>> {
  constructor(
    readonly conversationId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListMessages)
export class ListMessagesHandler implements IQueryHandler<ListMessages> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ conversationId, page }: ListMessages): Promise<RowPage<MessageRow>> {
    return findPage<MessageRow>(
      this.store,
      messages.name,
      { where: { conversationId }, orderBy: [{ field: 'sequence', order: 'desc' }] },
      page,
    );
  }
}
