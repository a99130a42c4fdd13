import { type Decisions, idOf, streamOf } from '@app/kernel';
import type { Claimant } from '@app/reservations';
import { isLiving, userDecider } from './user.decider';

/** A user as a claimant of a mail address. */
export const claimingUser = (decisions: Decisions, userId: string): Claimant => ({
  owner: streamOf(userDecider.category, userId),
  forfeit: (owner, claim, meta) => decisions.transact(userDecider, idOf(owner), { type: 'ForfeitClaim', claim }, meta),
  uses: async () => {
    const { state: user } = await decisions.load(userDecider, userId);
    return isLiving(user) ? [user.mailClaim] : [];
  },
});
