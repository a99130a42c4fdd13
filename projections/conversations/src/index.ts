export { ConversationsViewModule } from './conversations-view.module';
export * from './conversations.projection';
export * from './queries/get-conversation';
export * from './queries/list-conversations';
