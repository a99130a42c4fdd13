export { PromptsViewModule } from './prompts-view.module';
export * from './prompts.projection';
export * from './queries/get-prompt';
export * from './queries/list-prompts';
