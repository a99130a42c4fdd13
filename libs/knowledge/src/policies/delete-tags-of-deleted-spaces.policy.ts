import { type Clock, type Decisions, idOf, reactionTo, stepOf, type StreamReader } from '@app/kernel';
import type { Policy } from '@app/projecting';
import { tagRegistryDecider } from '../tags/tag-registry.decider';

const NAME = 'delete-tags-of-deleted-spaces';

export interface LateTagsParts {
  readonly decisions: Decisions;
  readonly log: StreamReader;
  readonly clock: Clock;
}

/** Views drop the tags of a Space with it. One made behind the deletion, by a request that was under way, is met as its own event. */
export const deleteTagsOfDeletedSpaces = ({ decisions, log, clock }: LateTagsParts): Policy => ({
  name: NAME,
  types: ['TagCreated'],
  react: async (event) => {
    const spaceId = idOf(event.context.stream);
    const [last] = await log.readStream(`space-${spaceId}`, { direction: 'backwards', limit: 1 });
    if (last?.type !== 'SpaceDeleted') return;
    const tagId = String(event.data['tagId']);
    await decisions.transact(
      tagRegistryDecider,
      spaceId,
      { type: 'Delete', tagId, withSpace: true },
      stepOf(reactionTo(event, NAME, clock.now()), tagId),
    );
  },
});
