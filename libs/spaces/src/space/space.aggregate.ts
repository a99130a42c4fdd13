import { defineAggregate, idOf, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { spaceDecider } from './space.decider';
import { spaceEvents } from './space.events';
import { spaceIntegrations } from './space.integrations';

/** Deleting a Space erases all that is in it. */
export const spaceAggregate = defineAggregate(spaceDecider, [...spaceEvents, claimForfeited], {
  erasure: {
    by: { SpaceDeleted: ({ context }) => ({ spaceId: idOf(context.stream) }) },
    again: (decisions, id, meta) => decisions.transact(spaceDecider, id, { type: 'Delete', withUser: true }, meta),
  },
  integrations: spaceIntegrations,
  kinds: { space: ownStream('space') },
});
