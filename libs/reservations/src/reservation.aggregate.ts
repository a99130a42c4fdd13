import { defineAggregate } from '@app/kernel';
import { reservationDecider } from './reservation.decider';
import { nameReleased, nameReserved } from './reservation.events';

export const reservationAggregate = defineAggregate(reservationDecider, [nameReserved, nameReleased]);
