import type { UserEvent } from '@app/identity';
import { ERASED } from '@app/kernel';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { users } from './users.projection';

const claim = { key: 'k', ticket: '01900000-0000-7000-8000-000000000001' };
const event = (revision: number, given: UserEvent) => happened('user-u1', revision, given);
const created = event(0, {
  type: 'UserCreated',
  data: {
    userId: 'u1',
    email: 'a@example.com',
    name: 'Ada',
    role: 'member',
    language: 'en',
    usageWindowStart: at(0),
    mailClaim: claim,
  },
});
const row = {
  id: 'u1',
  email: 'a@example.com',
  name: 'Ada',
  role: 'member',
  language: 'en',
  status: 'active',
  usageWindowStart: at(0),
  createdAt: at(0),
  revision: 0,
};

describe('the view of users', () => {
  it('shows a user, without their claims', () => expect(rowsAfter(users, created)).toEqual({ u1: row }));

  it('follows what changes', () => {
    const changes = [
      event(1, { type: 'UserChanged', data: { email: 'b@example.com', mailClaim: claim, releasedMailClaim: claim } }),
      event(2, { type: 'UserRoleChanged', data: { role: 'admin', appointment: 3 } }),
      event(3, { type: 'UserSuspended', data: {} }),
    ];
    expect(rowsAfter(users, created, ...changes)).toEqual({
      u1: { ...row, email: 'b@example.com', role: 'admin', status: 'suspended', revision: 3 },
    });
    expect(rowsAfter(users, created, ...changes, event(4, { type: 'UserReactivated', data: {} }))).toMatchObject({
      u1: { status: 'active', revision: 4 },
    });
  });

  it('has the revision of what shows nothing, too: a write that expects it is not rejected', () => {
    const forfeited = { type: 'ClaimForfeited', data: claim } as const;
    expect(rowsAfter(users, created, event(1, forfeited))).toEqual({ u1: { ...row, revision: 1 } });
    expect(rowsAfter(users, created, happened('space-u1', 1, forfeited))).toEqual({ u1: row });
  });

  it('loses the deleted', () =>
    expect(rowsAfter(users, created, event(1, { type: 'UserDeleted', data: { mailClaim: claim } }))).toEqual({}));

  it('goes on over what is erased', () =>
    expect(rowsAfter(users, { ...created, data: { ...created.data, email: ERASED, name: ERASED } })).toMatchObject({
      u1: { email: ERASED, name: ERASED },
    }));
});
