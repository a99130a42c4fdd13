export * from './reservation.decider';
export * from './reservation.events';
export * from './reservations';
export { ReservationsModule } from './reservations.module';
