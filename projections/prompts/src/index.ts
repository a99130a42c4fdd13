import { GetPromptHandler } from './queries/get-prompt';
import { ListPromptsHandler } from './queries/list-prompts';

export * from './prompts.projection';
export * from './queries/get-prompt';
export * from './queries/list-prompts';

export const promptQueryHandlers = [GetPromptHandler, ListPromptsHandler];
