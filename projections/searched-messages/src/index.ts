export { SearchedMessagesViewModule } from './searched-messages-view.module';
export { searchedMessages } from './searched-messages.projection';
