import { GetMessageHandler } from './queries/get-message';
import { ListMessagesHandler } from './queries/list-messages';

export * from './messages.projection';
export * from './queries/get-message';
export * from './queries/list-messages';

export const messageQueryHandlers = [GetMessageHandler, ListMessagesHandler];
