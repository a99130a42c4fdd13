import { CompleteViews } from '@app/projecting';
import { CONVERSATIONS_OF, type ConversationsOf } from '@app/conversations';
import { Module } from '@nestjs/common';
import { conversations } from './conversations.projection';
import { GetConversationHandler } from './queries/get-conversation';
import { ListConversationsHandler } from './queries/list-conversations';

const lookUp =
  (views: CompleteViews): ConversationsOf =>
  (owner, position) =>
    views.keys(
      conversations.name,
      { ...owner },
      [
        ...('userId' in owner ? [{ field: 'agentId', order: 'asc' as const }] : []),
        { field: 'createdAt', order: 'desc' },
      ],
      position,
    );

/** The view `conversations`. */
@Module({
  providers: [
    GetConversationHandler,
    ListConversationsHandler,
    { provide: CONVERSATIONS_OF, inject: [CompleteViews], useFactory: lookUp },
  ],
  exports: [CONVERSATIONS_OF],
})
export class ConversationsViewModule {
  static readonly projections = [conversations];
}
