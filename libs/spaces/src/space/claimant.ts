import { type Decisions, idOf, streamOf } from '@app/kernel';
import type { Claimant } from '@app/reservations';
import { claimsOf, spaceDecider } from './space.decider';

/** A Space as a claimant of names and slugs. */
export const claimingSpace = (decisions: Decisions, spaceId: string): Claimant => ({
  owner: streamOf(spaceDecider.category, spaceId),
  forfeit: (owner, claim, meta) => decisions.transact(spaceDecider, idOf(owner), { type: 'ForfeitClaim', claim }, meta),
  uses: async () => claimsOf((await decisions.load(spaceDecider, spaceId)).state),
});
