import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type PromptRow, prompts } from '../prompts.projection';

/** A prompt of a Space's library. Throws `not_found`, also for one of another Space. */
export class GetPrompt extends Query<PromptRow> {
  constructor(
    readonly spaceId: string,
    readonly promptId: string,
  ) {
    super();
  }
}

@QueryHandler(GetPrompt)
export class GetPromptHandler implements IQueryHandler<GetPrompt> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ spaceId, promptId }: GetPrompt): Promise<PromptRow> {
    const row = (await this.store.get(prompts.name, promptId))?.row as PromptRow | undefined;
    return row?.spaceId === spaceId ? row : reject('not_found', { kind: 'prompt', id: promptId });
  }
}
