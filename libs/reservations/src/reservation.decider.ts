import { type Decider, reject, type Uuid } from '@app/kernel';
import type { ReservationEvent } from './reservation.events';

/** Who holds a name, with which tickets, and since when with the last of them. Nobody at first, and once every ticket is released. */
export interface Reservation {
  readonly holder: { readonly owner: string; readonly tickets: ReadonlySet<Uuid>; readonly since: string } | undefined;
}

/** What can be asked of a name. */
export type ReservationCommand =
  | { readonly type: 'Reserve'; readonly owner: string; readonly ticket: Uuid }
  | { readonly type: 'Release'; readonly ticket: Uuid };

/** A unique name: held by one owner at a time, with one ticket or more, and free again after the release of the last. */
export const reservationDecider: Decider<Reservation, ReservationCommand, ReservationEvent> = {
  category: 'name',
  initial: { holder: undefined },
  decide: (command, { holder }) => {
    const { ticket } = command;
    const isHeld = holder?.tickets.has(ticket) === true;
    if (command.type === 'Release') return isHeld ? [{ type: 'NameReleased', data: { ticket } }] : [];
    const { owner } = command;
    if (holder !== undefined && holder.owner !== owner) return reject('name_taken');
    return isHeld ? [] : [{ type: 'NameReserved', data: { owner, ticket } }];
  },
  evolve: ({ holder }, event) => {
    if (event.type === 'NameReleased') return { holder: without(event.data.ticket, holder) };
    const { owner, ticket } = event.data;
    const others = holder?.owner === owner ? holder.tickets : [];
    return { holder: { owner, tickets: new Set([...others, ticket]), since: event.context.recordedAt } };
  },
};

const without = (ticket: Uuid, holder: Reservation['holder']): Reservation['holder'] => {
  const tickets = new Set([...(holder?.tickets ?? [])].filter((other) => other !== ticket));
  return holder === undefined || tickets.size === 0 ? undefined : { ...holder, tickets };
};
