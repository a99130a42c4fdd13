import { type Clock, reactionTo } from '@app/kernel';
import type { Policy } from '@app/projecting';
import type { Claim, Reservations } from '@app/reservations';

const NAME = 'release-names-of-spaces';

/** Releases the names that a Space gave up, if its command died before it could. */
export const releaseSpaceNames = ({
  reservations,
  clock,
}: {
  readonly reservations: Reservations;
  readonly clock: Clock;
}): Policy => ({
  name: NAME,
  types: ['SpaceChanged', 'SpaceDeleted'],
  react: async (event) => {
    const { released } = event.data as { readonly released: readonly Claim[] };
    for (const claim of released) await reservations.release(claim, reactionTo(event, NAME, clock.now()));
  },
});
