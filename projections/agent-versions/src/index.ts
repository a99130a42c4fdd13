export { AgentVersionsViewModule } from './agent-versions-view.module';
export * from './agent-versions.projection';
export * from './queries/get-agent-version';
export * from './queries/list-agent-versions';
