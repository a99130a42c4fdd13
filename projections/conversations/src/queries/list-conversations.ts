import { type ConversationKind, conversationScope, SEARCHED_MESSAGES } from '@app/conversations';
import { isErased, normalisedName } from '@app/kernel';
import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ConversationRow, conversations } from '../conversations.projection';

export interface ConversationFilter {
  readonly archived: boolean;
  readonly kind?: ConversationKind | undefined;
  /** Text that the title contains, case-insensitively, or words that all stand in one message, in any form of German or English. */
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
  constructor(
    @Inject(READ_STORE) private readonly store: ReadStore,
    @Inject(SEARCH_INDEX) private readonly index: Pick<SearchIndex, 'scopesWith'>,
  ) {}

  execute({ userId, agentId, filter, page }: ListConversations): Promise<RowPage<ConversationRow>> {
    const { q } = filter;
    const list = [{ userId, agentId }];
    const isListed = ({ archived, kind }: ConversationRow): boolean =>
      archived === filter.archived && (filter.kind === undefined || kind === filter.kind);
    if (q === undefined) return matchingPage<ConversationRow>(this.store, conversations.name, list, isListed, page);
    const title = normalisedName(q);
    const saying = new Set<string>();
    // Only of conversations that are in the caller's list is anything asked.
    const readAhead = async (rows: readonly ConversationRow[]): Promise<void> => {
      const scopes = rows.filter(isListed).map(({ id }) => conversationScope(id));
      for (const scope of await this.index.scopesWith(SEARCHED_MESSAGES, { scopes, text: q })) saying.add(scope);
    };
    const matches = (row: ConversationRow): boolean =>
      isListed(row) &&
      ((!isErased(row.title) && normalisedName(row.title).includes(title)) || saying.has(conversationScope(row.id)));
    return matchingPage<ConversationRow>(this.store, conversations.name, list, matches, page, readAhead);
  }
}
