import { AccessModule } from '@app/access';
import { ConversationsModule } from '@app/conversations';
import { Module } from '@nestjs/common';
import { AgentModelsController } from './agent-models.controller';
import { ConversationsController } from './conversations.controller';
import { TurnsController } from './turns.controller';

/** Conversations, their answers, and the models of an Agent. */
@Module({
  imports: [AccessModule, ConversationsModule],
  controllers: [AgentModelsController, ConversationsController, TurnsController],
})
export class LlmApiModule {}
