import { ListAgentVersionsHandler } from './queries/list-agent-versions';

export * from './agent-versions.projection';
export * from './queries/list-agent-versions';

export const agentVersionQueryHandlers = [ListAgentVersionsHandler];
