export { MessagesViewModule } from './messages-view.module';
export { messageRow, type MessageRow, messages } from './messages.projection';
export { GetMessage } from './queries/get-message';
export { ListMessages } from './queries/list-messages';
