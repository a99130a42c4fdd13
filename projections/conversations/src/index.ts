import { GetConversationHandler } from './queries/get-conversation';
import { ListConversationsHandler } from './queries/list-conversations';

export * from './conversations.projection';
export * from './queries/get-conversation';
export * from './queries/list-conversations';

export const conversationQueryHandlers = [GetConversationHandler, ListConversationsHandler];
