import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { userDecider, type UserCommand } from './user.decider';
import type { UserEvent } from './user.events';

const ticket = '01900000-0000-7000-8000-000000000001';
const claim = { key: 'user.email.h1', ticket };
const other = { key: 'user.email.h2', ticket: '01900000-0000-7000-8000-000000000002' };
const profile = {
  userId: '01900000-0000-7000-8000-0000000000aa',
  email: 'a@example.com',
  name: 'Ada',
  language: 'en',
  usageWindowStart: '2026-01-01T00:00:00.000Z',
  mailClaim: claim,
} as const;
const created: UserEvent = { type: 'UserCreated', data: { ...profile, role: 'member' } };
const createdAdmin: UserEvent = { type: 'UserCreated', data: { ...profile, role: 'admin', appointment: 4 } };
const suspended = (appointment?: number): UserEvent => ({
  type: 'UserSuspended',
  data: appointment === undefined ? {} : { appointment },
});

describe('a user', () => {
  it('is created once', () => {
    given(userDecider)
      .when({ type: 'Create', ...profile, role: 'member' })
      .yields(created);
    given(userDecider, created)
      .when({ type: 'Create', ...profile, role: 'member', mailClaim: other })
      .rejects('conflict');
  });

  it('cannot be created with a claim that was forfeited', () =>
    given(userDecider, { type: 'ClaimForfeited', data: claim })
      .when({ type: 'Create', ...profile, role: 'member' })
      .rejects('name_taken'));

  it('changes the fields that differ', () => {
    given(userDecider, created)
      .when({ type: 'Update', fields: { name: 'Ada L.', language: 'en' } })
      .yields({ type: 'UserChanged', data: { name: 'Ada L.' } });
    given(userDecider, created)
      .when({ type: 'Update', fields: { name: 'Ada' } })
      .yields();
    given(userDecider).when({ type: 'Update', fields: {} }).rejects('not_found');
  });

  it('gives its mail address up for another, but not for its own in other letters', () => {
    given(userDecider, created)
      .when({ type: 'Update', fields: { email: 'b@example.com' }, mailClaim: other })
      .yields({ type: 'UserChanged', data: { email: 'b@example.com', mailClaim: other, releasedMailClaim: claim } });
    given(userDecider, created)
      .when({ type: 'Update', fields: { email: 'A@example.com' }, mailClaim: { ...other, key: claim.key } })
      .yields({ type: 'UserChanged', data: { email: 'A@example.com' } });
  });

  it('does not have a mail address again by a claim that it gave up', () => {
    const moved: UserEvent = {
      type: 'UserChanged',
      data: { email: 'b@example.com', mailClaim: other, releasedMailClaim: claim },
    };
    given(userDecider, created, moved)
      .when({ type: 'Update', fields: { email: 'A@example.com' }, mailClaim: claim })
      .rejects('name_taken');
  });

  it('forfeits a claim that it does not use, and keeps the one it does', () => {
    given(userDecider, created)
      .when({ type: 'ForfeitClaim', claim: other })
      .yields({ type: 'ClaimForfeited', data: other });
    given(userDecider, created).when({ type: 'ForfeitClaim', claim }).rejects('name_taken');
    given(userDecider, created, { type: 'ClaimForfeited', data: other })
      .when({ type: 'Update', fields: { email: 'b@example.com' }, mailClaim: other })
      .rejects('name_taken');
  });

  it('is suspended, reactivated and deleted', () => {
    given(userDecider, created).when({ type: 'Suspend' }).yields(suspended());
    given(userDecider, created, suspended()).when({ type: 'Reactivate' }).yields({ type: 'UserReactivated', data: {} });
    given(userDecider, created)
      .when({ type: 'Delete' })
      .yields({ type: 'UserDeleted', data: { mailClaim: claim } });
    given(userDecider, created, { type: 'UserDeleted', data: { mailClaim: claim } })
      .when({ type: 'Suspend' })
      .rejects('not_found');
  });

  it('is not created again once deleted, nor forfeits anything', () => {
    const deleted: UserEvent = { type: 'UserDeleted', data: { mailClaim: claim } };
    given(userDecider, created, deleted)
      .when({ type: 'Create', ...profile, role: 'member' })
      .rejects('conflict');
    given(userDecider, created, deleted).when({ type: 'ForfeitClaim', claim }).yields();
  });
});

describe('the last word on admins', () => {
  it('is with the register: no active admin begins or ends without a later appointment', () => {
    given(userDecider)
      .when({ type: 'Create', ...profile, role: 'admin' })
      .rejects('conflict');
    given(userDecider, created).when({ type: 'Update', fields: {}, role: 'admin' }).rejects('conflict');
    given(userDecider, created)
      .when({ type: 'Update', fields: {}, role: 'admin', appointment: 5 })
      .yields({ type: 'UserRoleChanged', data: { role: 'admin', appointment: 5 } });
    for (const command of [
      { type: 'Update', fields: {}, role: 'member' },
      { type: 'Suspend' },
      { type: 'Delete' },
    ] as const) {
      given(userDecider, createdAdmin).when(command).rejects('conflict');
      given(userDecider, createdAdmin)
        .when({ ...command, appointment: 4 })
        .rejects('conflict');
    }
    given(userDecider, createdAdmin).when({ type: 'Suspend', appointment: 6 }).yields(suspended(6));
  });

  it('does not concern an admin who is suspended, until they are reactivated', () => {
    given(userDecider, createdAdmin, suspended(6))
      .when({ type: 'Update', fields: {}, role: 'member' })
      .yields({ type: 'UserRoleChanged', data: { role: 'member' } });
    given(userDecider, createdAdmin, suspended(6)).when({ type: 'Reactivate' }).rejects('conflict');
    given(userDecider, createdAdmin, suspended(6))
      .when({ type: 'Reactivate', appointment: 7 })
      .yields({ type: 'UserReactivated', data: { appointment: 7 } });
  });

  it('holds against an earlier word that arrives late', () => {
    const again: UserEvent = { type: 'UserRoleChanged', data: { role: 'admin', appointment: 8 } };
    given(userDecider, createdAdmin, again)
      .when({ type: 'Update', fields: {}, role: 'member', appointment: 7 })
      .rejects('conflict');
  });
});

test('a decided command yields nothing again', () => {
  const appointment = fc
    .option(fc.nat(20), { nil: undefined })
    .map((value) => (value === undefined ? {} : { appointment: value }));
  const role = fc.constantFrom('admin' as const, 'member' as const);
  const commands: fc.Arbitrary<UserCommand> = fc.oneof(
    fc
      .record({ role, appointment })
      .map(({ role: given_, appointment: fence }) => ({ type: 'Create' as const, ...profile, role: given_, ...fence })),
    fc
      .record({ name: fc.constantFrom('A', 'B'), role, appointment })
      .map(({ name, role: given_, appointment: fence }) => ({
        type: 'Update' as const,
        fields: { name },
        role: given_,
        ...fence,
      })),
    fc
      .record({ type: fc.constantFrom('Suspend' as const, 'Reactivate' as const, 'Delete' as const), appointment })
      .map(({ type, appointment: fence }) => ({ type, ...fence })),
    fc.constantFrom(claim, other).map((forfeited) => ({ type: 'ForfeitClaim' as const, claim: forfeited })),
    fc.constant({ type: 'Update' as const, fields: { email: 'b@example.com' }, mailClaim: other }),
  );
  decidesOnce(userDecider, commands);
});
