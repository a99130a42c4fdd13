export { AgentsViewModule } from './agents-view.module';
export * from './agents.projection';
export * from './queries/get-agent';
export * from './queries/list-agents';
