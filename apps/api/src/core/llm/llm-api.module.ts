import { AccessModule } from '@app/access';
import { ConversationsModule } from '@app/conversations';
import { SectionSummariesModule } from '@app/section-summaries';
import { Module } from '@nestjs/common';
import { AgentModelsController } from './agent-models.controller';
import { ConversationsController } from './conversations.controller';
import { MessageSummaries } from './message-summaries';
import { TurnsController } from './turns.controller';

/** Conversations, their answers, and the models of an Agent. */
@Module({
  imports: [AccessModule, ConversationsModule, SectionSummariesModule],
  controllers: [AgentModelsController, ConversationsController, TurnsController],
  providers: [MessageSummaries],
})
export class LlmApiModule {}
