import { AccessModule } from '@app/access';
import { ConversationsModule } from '@app/conversations';
import { SectionSummariesModule } from '@app/section-summaries';
import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AgentModelsController } from './agent-models.controller';
import { BranchesController } from './branches.controller';
import { CheckpointsController } from './checkpoints.controller';
import { ConversationsController } from './conversations.controller';
import { DeletedSources } from './deleted-sources';
import { FilesController } from './files.controller';
import { GenerationCalls } from './generation-calls';
import { GenerationController } from './generation.controller';
import { IncognitoAnswers } from './incognito-answers';
import { IncognitoRequests } from './incognito-requests';
import { MediaController } from './media.controller';
import { MessageSources } from './message-sources';
import { ProvenanceController } from './provenance.controller';
import { TurnAnswers } from './turn-answers';
import { TurnsController } from './turns.controller';

/** Conversations, their answers, what is generated outside of them, and the models of an Agent. */
@Module({
  imports: [AccessModule, ConversationsModule, DiscoveryModule, SectionSummariesModule],
  controllers: [
    AgentModelsController,
    BranchesController,
    CheckpointsController,
    ConversationsController,
    FilesController,
    GenerationController,
    MediaController,
    ProvenanceController,
    TurnsController,
  ],
  providers: [DeletedSources, GenerationCalls, IncognitoAnswers, IncognitoRequests, MessageSources, TurnAnswers],
})
export class LlmApiModule {}
