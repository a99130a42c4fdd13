import { type Decisions, idOf } from '@app/kernel';
import type { Forfeit } from '@app/reservations';
import { userDecider } from './user.decider';

/** Makes a user give up a mail address that it reserved and does not use. */
export const forfeitMail =
  (decisions: Decisions): Forfeit =>
  (owner, claim, meta) =>
    decisions.transact(userDecider, idOf(owner), { type: 'ForfeitClaim', claim }, meta);
