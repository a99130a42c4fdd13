import { type Clock, reactionTo } from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { Claim, Reservations } from '@app/reservations';

const NAME = 'release-mail-addresses';

/** Releases the mail addresses that users gave up, if their command died before it could. */
export const releaseMailAddresses = ({
  reservations,
  clock,
}: {
  readonly reservations: Reservations;
  readonly clock: Clock;
}): Policy => ({
  name: NAME,
  types: ['UserChanged', 'UserDeleted'],
  react: async (event) => {
    const released = (event.type === 'UserDeleted' ? event.data['mailClaim'] : event.data['releasedMailClaim']) as
      Claim | undefined;
    if (released !== undefined) await reservations.release(released, reactionTo(event, NAME, clock.now()));
  },
});
