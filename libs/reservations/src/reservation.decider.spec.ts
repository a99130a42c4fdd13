import { decidesOnce, given } from '../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { reservationDecider, type ReservationCommand } from './reservation.decider';

const [t1, t2, t3] = [
  '01900000-0000-7000-8000-000000000001',
  '01900000-0000-7000-8000-000000000002',
  '01900000-0000-7000-8000-000000000003',
];
const reserved = (owner: string, ticket: string) => ({ type: 'NameReserved', data: { owner, ticket } }) as const;
const released = (ticket: string) => ({ type: 'NameReleased', data: { ticket } }) as const;

describe('a reserved name', () => {
  it('has one owner at a time', () => {
    given(reservationDecider).when({ type: 'Reserve', owner: 'space-a', ticket: t1 }).yields(reserved('space-a', t1));
    given(reservationDecider, reserved('space-a', t1))
      .when({ type: 'Reserve', owner: 'space-b', ticket: t2 })
      .rejects('name_taken');
  });

  it('is held by every claim of its owner, until the last is released', () => {
    const both = [reserved('space-a', t1), reserved('space-a', t2)];
    given(reservationDecider, reserved('space-a', t1))
      .when({ type: 'Reserve', owner: 'space-a', ticket: t2 })
      .yields(reserved('space-a', t2));
    given(reservationDecider, ...both)
      .when({ type: 'Reserve', owner: 'space-a', ticket: t1 })
      .yields();
    for (const ticket of [t1, t2]) {
      given(reservationDecider, ...both)
        .when({ type: 'Release', ticket })
        .yields(released(ticket));
      given(reservationDecider, ...both, released(ticket))
        .when({ type: 'Reserve', owner: 'space-b', ticket: t3 })
        .rejects('name_taken');
    }
    given(reservationDecider, ...both, released(t2), released(t1))
      .when({ type: 'Reserve', owner: 'space-b', ticket: t3 })
      .yields(reserved('space-b', t3));
  });

  it('went with every claim to the next owner where it was taken over without a release, as earlier versions did', () => {
    const taken = [reserved('space-a', t1), reserved('space-a', t2), reserved('space-b', t3)];
    given(reservationDecider, ...taken)
      .when({ type: 'Release', ticket: t1 })
      .yields();
    given(reservationDecider, ...taken)
      .when({ type: 'Reserve', owner: 'space-a', ticket: t1 })
      .rejects('name_taken');
    given(reservationDecider, ...taken, released(t3))
      .when({ type: 'Reserve', owner: 'space-a', ticket: t1 })
      .yields(reserved('space-a', t1));
  });

  it('is released by the claim that holds it, and free then', () => {
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Release', ticket: t1 }).yields(released(t1));
    given(reservationDecider, reserved('space-a', t1)).when({ type: 'Release', ticket: t2 }).yields();
    given(reservationDecider, reserved('space-a', t1), released(t1))
      .when({ type: 'Reserve', owner: 'space-b', ticket: t2 })
      .yields(reserved('space-b', t2));
  });
});

test('a decided command yields nothing again', () => {
  const ticket = fc.constantFrom('1', '2', '3');
  const commands: fc.Arbitrary<ReservationCommand> = fc.oneof(
    fc.record({ type: fc.constant('Reserve' as const), owner: fc.constantFrom('a', 'b'), ticket }),
    fc.record({ type: fc.constant('Release' as const), ticket }),
  );
  decidesOnce(reservationDecider, commands);
});
