import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { PROMPTS_OF_SPACE, type PromptsOfSpace } from '../lookups';
import { promptDecider } from '../prompt/prompt.decider';
import { promptAdded } from '../prompt/prompt.events';

/** Deletes the prompt library of a deleted Space. */
@PolicyHandler()
export class DeletePromptsWithTheirSpace implements Policy {
  readonly name = 'delete-prompts-with-their-space';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(decisions: Decisions, deletion: DeletionWithOwner, @Inject(PROMPTS_OF_SPACE) promptsOf: PromptsOfSpace) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: { SpaceDeleted: promptsOf },
      made: promptAdded,
      remove: (promptId, meta) => decisions.transact(promptDecider, promptId, { type: 'Delete' }, meta),
    }));
  }
}
