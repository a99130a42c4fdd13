import { decidesOnce, given } from '../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { reservationDecider, type ReservationCommand } from './reservation.decider';

const [t1, t2] = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002'];
const reserved = (owner: string, ticket: string) => ({ type: 'NameReserved', data: { owner, ticket } }) as const;
const released = (ticket: string) => ({ type: 'NameReleased', data: { ticket } }) as const;

describe('a reserved name', () => {
  it('has one owner at a time', () => {
    given(reservationDecider).when({ type: 'Reserve', owner: 'space-a', ticket: t1 }).yields(reserved('space-a', t1));
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Reserve', owner: 'space-b', ticket: t2 }).refuses('name_taken');
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Reserve', owner: 'space-a', ticket: t2 }).yields(reserved('space-a', t2));
  });

  it('is taken over from the holder who made room, and from nobody else', () => {
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Reserve', owner: 'space-b', ticket: t2, instead: t1 }).yields(reserved('space-b', t2));
    given(reservationDecider, reserved('space-c', t2)).when({ type: 'Reserve', owner: 'space-b', ticket: t2, instead: t1 }).refuses('name_taken');
  });

  it('is released by the claim that holds it, and free then', () => {
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Release', ticket: t1 }).yields(released(t1));
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Release', ticket: t2 }).yields();
    given(reservationDecider, reserved('space-a', t1), released(t1)).when({ type: 'Reserve', owner: 'space-b', ticket: t2 }).yields(reserved('space-b', t2));
  });
});

test('a decided command yields nothing again', () => {
  const ticket = fc.constantFrom('1', '2', '3');
  const commands: fc.Arbitrary<ReservationCommand> = fc.oneof(
    fc.record({ type: fc.constant('Reserve' as const), owner: fc.constantFrom('a', 'b'), ticket }),
    fc.record({ type: fc.constant('Reserve' as const), owner: fc.constantFrom('a', 'b'), ticket, instead: ticket }),
    fc.record({ type: fc.constant('Release' as const), ticket }),
  );
  decidesOnce(reservationDecider, commands);
});
