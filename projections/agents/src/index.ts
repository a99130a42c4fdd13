export { AgentsViewModule } from './agents-view.module';
export { agentRow, type AgentRow, agents } from './agents.projection';
export { GetAgent } from './queries/get-agent';
export { ListAgents } from './queries/list-agents';
