export { agentConfig, agentUpdate, defaultConfig } from './agent/agent-config';
export { type PresentAgent, agentDecider } from './agent/agent.decider';
export { agentEvents, type AgentEvent, type StoredConfig } from './agent/agent.events';
export { rowOfTool, shownTool, type StoredTool, toolRow } from './agent/tools';
export { ToolSecrets } from './agent/tool-secrets';
export { UpdateAgent } from './agent/commands/update-agent';
export { CreateAgent } from './agent/commands/create-agent';
export {
  personalAgentOf,
  CreatePersonalAgent,
  CreatePersonalAgentHandler,
} from './agent/commands/create-personal-agent';
export { DeleteAgent } from './agent/commands/delete-agent';
export { RestoreAgent } from './agent/commands/restore-agent';
export { DeleteAgentsWithTheirSpace } from './policies/delete-agents-with-their-space.policy';
export { MakeAChatAgentInEachPersonalSpace } from './policies/make-a-chat-agent-in-each-personal-space.policy';
export { AgentsModule } from './agents.module';
export { AGENTS_OF_SPACE, type AgentsOfSpace } from './lookups';
