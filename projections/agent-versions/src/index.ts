import { GetAgentVersionHandler } from './queries/get-agent-version';
import { ListAgentVersionsHandler } from './queries/list-agent-versions';

export * from './agent-versions.projection';
export * from './queries/get-agent-version';
export * from './queries/list-agent-versions';

export const agentVersionQueryHandlers = [GetAgentVersionHandler, ListAgentVersionsHandler];
