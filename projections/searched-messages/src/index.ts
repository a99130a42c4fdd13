export { SearchedMessagesViewModule } from './searched-messages-view.module';
export * from './searched-messages.projection';
