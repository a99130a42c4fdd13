import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ConversationRow, conversations } from '../conversations.projection';

/** A conversation of a user with an Agent. Throws `not_found`, also for those of other users and Agents. */
export class GetConversation extends Query<ConversationRow> {
  constructor(
    readonly userId: string,
    readonly agentId: string,
    readonly conversationId: string,
  ) {
    super();
  }
}

@QueryHandler(GetConversation)
export class GetConversationHandler implements IQueryHandler<GetConversation> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ userId, agentId, conversationId }: GetConversation): Promise<ConversationRow> {
    const row = (await this.store.get(conversations.name, conversationId))?.row as ConversationRow | undefined;
    return row?.userId === userId && row.agentId === agentId
      ? row
      : reject('not_found', { kind: 'conversation', id: conversationId });
  }
}
