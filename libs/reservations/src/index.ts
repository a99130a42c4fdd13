export { reservationAggregate } from './reservation.aggregate';
export * from './reservation.decider';
export * from './reservation.events';
export * from './reservations';
