import {
  type Clock,
  type Decisions,
  idOf,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import type { Policy } from '@app/projecting';
import { promptDecider } from '../prompt/prompt.decider';
import { isDeleted } from './is-deleted';

const NAME = 'delete-prompts-with-their-space';

export interface DeletePromptsParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
  /** Ids of the prompts of a Space, complete up to the event at `position`. */
  readonly promptsOf: (spaceId: string, position: string) => Promise<readonly string[]>;
}

/** Deletes the prompt library of a deleted Space. A prompt added meanwhile is handled by its own event. */
export const deletePrompts = ({ decisions, log, clock, promptsOf }: DeletePromptsParts): Policy => {
  const remove = async (promptId: string, event: RecordedEvent): Promise<void> => {
    await decisions.transact(
      promptDecider,
      promptId,
      { type: 'Delete' },
      stepOf(reactionTo(event, NAME, clock.now()), promptId),
    );
  };
  return {
    name: NAME,
    types: ['SpaceDeleted', 'PromptAdded'],
    react: async (event) => {
      const id = idOf(event.context.stream);
      if (event.type === 'SpaceDeleted')
        for (const promptId of await promptsOf(id, event.context.position)) await remove(promptId, event);
      else if (await isDeleted(log, `space-${String(event.data['spaceId'])}`, 'SpaceDeleted')) await remove(id, event);
    },
  };
};
