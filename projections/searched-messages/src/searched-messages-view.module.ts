import { Module } from '@nestjs/common';
import { searchedMessages } from './searched-messages.projection';

/** The search view over what was said in conversations. */
@Module({})
export class SearchedMessagesViewModule {
  static readonly projections = [searchedMessages];
}
