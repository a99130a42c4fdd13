import { type Decisions, idOf } from '@app/kernel';
import type { Forfeit } from '@app/reservations';
import { spaceDecider } from './space.decider';

/** Makes a Space give up a name or slug that it reserved and does not use. */
export const forfeitOfSpace =
  (decisions: Decisions): Forfeit =>
  (owner, claim, meta) =>
    decisions.transact(spaceDecider, idOf(owner), { type: 'ForfeitClaim', claim }, meta);
