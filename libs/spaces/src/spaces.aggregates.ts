import { defineAggregate, idOf, ownKey, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { promptDecider } from './prompt/prompt.decider';
import { promptEvents } from './prompt/prompt.events';
import { spaceDecider } from './space/space.decider';
import { spaceEvents } from './space/space.events';
import { spaceIntegrations } from './space/space.integrations';

/** Deleting a Space erases all that is in it. */
const spaceAggregate = defineAggregate(spaceDecider, [...spaceEvents, claimForfeited], {
  erasure: {
    by: { SpaceDeleted: ({ context }) => ({ spaceId: idOf(context.stream) }) },
    again: (decisions, id, meta) => decisions.transact(spaceDecider, id, { type: 'Delete', withUser: true }, meta),
  },
  integrations: spaceIntegrations,
  kinds: { space: ownStream('space') },
});

const promptAggregate = defineAggregate(promptDecider, promptEvents, {
  erasure: {
    by: { PromptDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(promptDecider, id, { type: 'Delete' }, meta),
  },
});

export const spacesAggregates = [spaceAggregate, promptAggregate];
