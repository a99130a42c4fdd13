export { ConversationsViewModule } from './conversations-view.module';
export { conversationRow, type ConversationRow, conversations } from './conversations.projection';
export { GetConversation } from './queries/get-conversation';
export { type ConversationFilter, ListConversations, ListConversationsHandler } from './queries/list-conversations';
