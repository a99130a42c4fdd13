import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { adminsDecider, type AdminsCommand } from './admins.decider';

const appointed = (userId: string) => ({ type: 'AdminAppointed', data: { userId } }) as const;
const dismissed = (userId: string) => ({ type: 'AdminDismissed', data: { userId } }) as const;

describe('the register of admins', () => {
  it('appoints an admin once', () => {
    given(adminsDecider).when({ type: 'Appoint', userId: 'a' }).yields(appointed('a'));
    given(adminsDecider, appointed('a')).when({ type: 'Appoint', userId: 'a' }).yields();
    given(adminsDecider, appointed('a'), dismissed('a')).when({ type: 'Appoint', userId: 'a' }).yields(appointed('a'));
  });

  it('dismisses an admin while another is there', () =>
    given(adminsDecider, appointed('a'), appointed('b'))
      .when({
        type: 'Dismiss',
        userId: 'a',
        present: new Map([
          ['a', 0],
          ['b', 1],
        ]),
      })
      .yields(dismissed('a')));

  it.each([
    ['nobody else', new Map([['a', 0]])],
    [
      'one who is not appointed',
      new Map([
        ['a', 0],
        ['c', 5],
      ]),
    ],
    [
      'one whose stream knows another appointment',
      new Map([
        ['a', 0],
        ['b', 0],
      ]),
    ],
  ])('keeps the last admin: %s remains', (_, present) => {
    given(adminsDecider, appointed('a'), appointed('b'))
      .when({ type: 'Dismiss', userId: 'a', present })
      .rejects('conflict', { reason: 'last_admin' });
  });

  it('does not count one who is being dismissed', () =>
    given(adminsDecider, appointed('a'), appointed('b'), dismissed('b'))
      .when({
        type: 'Dismiss',
        userId: 'a',
        present: new Map([
          ['a', 0],
          ['b', 1],
        ]),
      })
      .rejects('conflict'));
});

test('a decided command yields nothing again', () => {
  const userId = fc.constantFrom('a', 'b', 'c');
  const present = fc.dictionary(userId, fc.nat(8)).map((entries) => new Map(Object.entries(entries)));
  const commands: fc.Arbitrary<AdminsCommand> = fc.oneof(
    userId.map((id) => ({ type: 'Appoint' as const, userId: id })),
    fc.record({ type: fc.constant('Dismiss' as const), userId, present }),
  );
  decidesOnce(adminsDecider, commands);
});
