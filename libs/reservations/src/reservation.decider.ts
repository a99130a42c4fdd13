import { type Decider, refuse, type Uuid } from '@app/kernel';
import type { ReservationEvent } from './reservation.events';

/** Who holds a name, since when and by which command; nobody at first and after a release. */
export interface Reservation {
  readonly holder: { readonly owner: string; readonly ticket: Uuid; readonly since: string } | undefined;
}

export type ReservationCommand =
  /** `instead`: the ticket of the holder who lost the claim and makes room. */
  | { readonly type: 'Reserve'; readonly owner: string; readonly ticket: Uuid; readonly instead?: Uuid }
  | { readonly type: 'Release'; readonly ticket: Uuid };

/** One name that must be unique: held by one owner at a time, and free again after its release. */
export const reservationDecider: Decider<Reservation, ReservationCommand, ReservationEvent> = {
  category: 'name',
  initial: { holder: undefined },
  decide: (command, { holder }) => {
    if (command.type === 'Release') return holder?.ticket === command.ticket ? [{ type: 'NameReleased', data: { ticket: command.ticket } }] : [];
    const { owner, ticket } = command;
    if (holder?.owner === owner && holder.ticket === ticket) return [];
    const free = holder === undefined || holder.owner === owner || holder.ticket === command.instead;
    return free ? [{ type: 'NameReserved', data: { owner, ticket } }] : refuse('name_taken');
  },
  evolve: (_, event) =>
    event.type === 'NameReleased' ? { holder: undefined } : { holder: { owner: event.data.owner, ticket: event.data.ticket, since: event.context.recordedAt } },
};
