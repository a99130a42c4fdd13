export { MessagesViewModule } from './messages-view.module';
export * from './messages.projection';
export * from './queries/get-message';
export * from './queries/list-messages';
