import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { AgentsController } from './agents.controller';
import { AgentVersionsController } from './versions.controller';

/** Agents and their versions. */
@Module({ imports: [AccessModule], controllers: [AgentsController, AgentVersionsController] })
export class AgentsApiModule {}
