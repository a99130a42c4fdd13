import { Module } from '@nestjs/common';
import { agentVersions } from './agent-versions.projection';
import { GetAgentVersionHandler } from './queries/get-agent-version';
import { ListAgentVersionsHandler } from './queries/list-agent-versions';

/** The view `agent-versions`. */
@Module({ providers: [GetAgentVersionHandler, ListAgentVersionsHandler] })
export class AgentVersionsViewModule {
  static readonly projections = [agentVersions];
}
