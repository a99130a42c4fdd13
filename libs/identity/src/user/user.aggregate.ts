import { defineAggregate, idOf, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { AdminRegister } from '../admins/admin-register';
import { userDecider } from './user.decider';
import { userEvents } from './user.events';
import { userIntegrations } from './user.integrations';

/** Deleting a user erases everything that is theirs. */
export const userAggregate = defineAggregate(userDecider, [...userEvents, claimForfeited], {
  erasure: {
    by: { UserDeleted: ({ context }) => ({ userId: idOf(context.stream) }) },
    again: (decisions, id, meta) =>
      new AdminRegister(decisions).announcing(id, { status: 'deleted' }, meta, (appointed) =>
        decisions.transact(userDecider, id, { type: 'Delete', ...appointed }, meta),
      ),
  },
  integrations: userIntegrations,
  kinds: { user: ownStream('user') },
});
