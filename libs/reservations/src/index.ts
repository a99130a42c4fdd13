export { claimSchema, type Claim, claimForfeited } from './reservation.events';
export { type Claimant, Reservations, type Forfeited, forfeiting, assertClaims } from './reservations';
export { ReservationsModule } from './reservations.module';
