import { Module } from '@nestjs/common';
import { reservationAggregate } from './reservation.aggregate';
import { Reservations } from './reservations';

/** Names that must be unique in the instance. */
@Module({ providers: [Reservations], exports: [Reservations] })
export class ReservationsModule {
  static readonly aggregates = [reservationAggregate];
}
