import { CompleteViews } from '@app/projecting';
import { AGENTS_OF_SPACE, type AgentsOfSpace } from '@app/agents';
import { Module } from '@nestjs/common';
import { agents } from './agents.projection';
import { GetAgentHandler } from './queries/get-agent';
import { ListAgentsHandler } from './queries/list-agents';

const lookUp =
  (views: CompleteViews): AgentsOfSpace =>
  (spaceId, position) =>
    views.keys(agents.name, { spaceId }, [{ field: 'createdAt', order: 'desc' }], position);

/** The view `agents`. */
@Module({
  providers: [
    GetAgentHandler,
    ListAgentsHandler,
    { provide: AGENTS_OF_SPACE, inject: [CompleteViews], useFactory: lookUp },
  ],
  exports: [AGENTS_OF_SPACE],
})
export class AgentsViewModule {
  static readonly projections = [agents];
}
