import type { ConversationKind } from '@app/conversations';
import { isErased, normalisedName } from '@app/kernel';
import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ConversationRow, conversations } from '../conversations.projection';

export interface ConversationFilter {
  readonly archived: boolean;
  readonly kind?: ConversationKind | undefined;
  /** Text that the title contains, case-insensitively. */
  readonly q?: string | undefined;
}

/** The conversations of a user with an Agent, newest first. */
export class ListConversations extends Query<RowPage<ConversationRow>> {
  constructor(
    readonly userId: string,
    readonly agentId: string,
    readonly filter: ConversationFilter,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListConversations)
export class ListConversationsHandler implements IQueryHandler<ListConversations> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ userId, agentId, filter, page }: ListConversations): Promise<RowPage<ConversationRow>> {
    const wanted = filter.q === undefined ? undefined : normalisedName(filter.q);
    const matches = ({ archived, kind, title }: ConversationRow): boolean =>
      archived === filter.archived &&
      (filter.kind === undefined || kind === filter.kind) &&
      (wanted === undefined || (!isErased(title) && normalisedName(title).includes(wanted)));
    return matchingPage<ConversationRow>(
      this.store,
      conversations.name,
      { where: { userId, agentId }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      matches,
      page,
    );
  }
}
