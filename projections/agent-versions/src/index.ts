export { AgentVersionsViewModule } from './agent-versions-view.module';
export { agentVersionRow, type AgentVersionRow } from './agent-versions.projection';
export { GetAgentVersion } from './queries/get-agent-version';
export { ListAgentVersions } from './queries/list-agent-versions';
