import { CompleteViews } from '@app/projecting';
import { PROMPTS_OF_SPACE, type PromptsOfSpace } from '@app/spaces';
import { Module } from '@nestjs/common';
import { prompts } from './prompts.projection';
import { GetPromptHandler } from './queries/get-prompt';
import { ListPromptsHandler } from './queries/list-prompts';

const lookUp =
  (views: CompleteViews): PromptsOfSpace =>
  (spaceId, position) =>
    views.keys(prompts.name, { spaceId }, [{ field: 'createdAt', order: 'desc' }], position);

/** The view `prompts`. */
@Module({
  providers: [
    GetPromptHandler,
    ListPromptsHandler,
    { provide: PROMPTS_OF_SPACE, inject: [CompleteViews], useFactory: lookUp },
  ],
  exports: [PROMPTS_OF_SPACE],
})
export class PromptsViewModule {
  static readonly projections = [prompts];
}
