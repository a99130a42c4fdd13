import { GetAgentHandler } from './queries/get-agent';
import { ListAgentsHandler } from './queries/list-agents';

export * from './agents.projection';
export * from './queries/get-agent';
export * from './queries/list-agents';

export const agentQueryHandlers = [GetAgentHandler, ListAgentsHandler];
