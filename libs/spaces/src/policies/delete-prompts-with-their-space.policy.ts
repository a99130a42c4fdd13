import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  eachOfAll,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { PROMPTS_OF_SPACE, type PromptsOfSpace } from '../lookups';
import { promptDecider } from '../prompt/prompt.decider';

/** Deletes the prompt library of a deleted Space. A prompt added meanwhile is handled by its own event. */
@PolicyHandler()
export class DeletePromptsWithTheirSpace implements Policy {
  readonly name = 'delete-prompts-with-their-space';
  readonly types = ['SpaceDeleted', 'PromptAdded'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(PROMPTS_OF_SPACE) private readonly promptsOf: PromptsOfSpace,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type === 'SpaceDeleted')
      await eachOfAll(await this.promptsOf(id, event.context.position), (promptId) => this.remove(promptId, event));
    else if (await isDeleted(this.log, `space-${String(event.data['spaceId'])}`, 'SpaceDeleted'))
      await this.remove(id, event);
  }

  private async remove(promptId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), promptId);
    await this.decisions.transact(promptDecider, promptId, { type: 'Delete' }, meta);
  }
}
