import { Module } from '@nestjs/common';
import { messages } from './messages.projection';
import { GetMessageHandler } from './queries/get-message';
import { ListMessagesHandler } from './queries/list-messages';

/** The view `messages`. */
@Module({ providers: [GetMessageHandler, ListMessagesHandler] })
export class MessagesViewModule {
  static readonly projections = [messages];
}
