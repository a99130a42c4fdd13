export { PromptsViewModule } from './prompts-view.module';
export { promptRow } from './prompts.projection';
export { GetPrompt } from './queries/get-prompt';
export { ListPrompts } from './queries/list-prompts';
