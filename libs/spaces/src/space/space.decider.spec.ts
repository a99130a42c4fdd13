import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { spaceDecider, type SpaceCommand } from './space.decider';
import type { SpaceEvent } from './space.events';

const claim = (key: string, n = 1) => ({ key, ticket: `01900000-0000-7000-8000-00000000000${n}` });
const fields = { name: 'Team', slug: 'team', description: '', color: '#3B82F6' };
const created: SpaceEvent = {
  type: 'SpaceCreated',
  data: { spaceId: 's', kind: 'team', ownerId: 'a', ...fields, nameClaim: claim('n1'), slugClaim: claim('s1') },
};
const personal: SpaceEvent = {
  type: 'SpaceCreated',
  data: { spaceId: 's', kind: 'personal', ownerId: 'a', ...fields },
};
const added = (userId: string, role: 'viewer' | 'editor' | 'owner', memberCount = 2): SpaceEvent => ({
  type: 'SpaceMemberAdded',
  data: { userId, role, memberCount },
});
const create = {
  type: 'Create',
  spaceId: 's',
  kind: 'team',
  ownerId: 'a',
  fields,
  nameClaim: claim('n1'),
  slugClaim: claim('s1'),
} as const;
const deleted: SpaceEvent = { type: 'SpaceDeleted', data: { released: [claim('n1'), claim('s1')] } };

describe('a Space', () => {
  it('is created with its first owner', () => given(spaceDecider).when(create).yields(created));

  it('is not created with a claim that was forfeited, or once deleted', () => {
    given(spaceDecider, { type: 'ClaimForfeited', data: claim('s1') })
      .when(create)
      .rejects('name_taken');
    given(spaceDecider, created, deleted).when(create).rejects('not_found');
  });

  it('gives up the names it changes', () => {
    given(spaceDecider, created)
      .when({ type: 'Update', fields: { name: 'Crew' }, nameClaim: claim('n2', 2) })
      .yields({ type: 'SpaceChanged', data: { name: 'Crew', nameClaim: claim('n2', 2), released: [claim('n1')] } });
    given(spaceDecider, created)
      .when({ type: 'Update', fields: { name: 'TEAM' }, nameClaim: claim('n1', 2) })
      .yields({ type: 'SpaceChanged', data: { name: 'TEAM', released: [] } });
    given(spaceDecider, created).when({ type: 'Update', fields }).yields();
  });

  it('does not bear a name again by a claim that it gave up', () => {
    const renamed: SpaceEvent = {
      type: 'SpaceChanged',
      data: { name: 'Crew', nameClaim: claim('n2', 2), released: [claim('n1')] },
    };
    given(spaceDecider, created, renamed)
      .when({ type: 'Update', fields: { name: 'TEAM' }, nameClaim: claim('n1') })
      .rejects('name_taken');
    given(spaceDecider, created, renamed)
      .when({ type: 'Update', fields: { name: 'TEAM' }, nameClaim: claim('n1', 3) })
      .yields({ type: 'SpaceChanged', data: { name: 'TEAM', nameClaim: claim('n1', 3), released: [claim('n2', 2)] } });
  });

  it('forfeits a claim it does not use', () => {
    given(spaceDecider)
      .when({ type: 'ForfeitClaim', claim: claim('n1') })
      .yields({ type: 'ClaimForfeited', data: claim('n1') });
    given(spaceDecider, created)
      .when({ type: 'ForfeitClaim', claim: claim('n1', 3) })
      .rejects('name_taken');
    given(spaceDecider, created, deleted)
      .when({ type: 'ForfeitClaim', claim: claim('n1') })
      .yields();
  });

  it('is deleted for good and lets its names go', () => {
    given(spaceDecider, created).when({ type: 'Delete' }).yields(deleted);
    given(spaceDecider, created, deleted).when({ type: 'SetMember', userId: 'b', role: 'viewer' }).rejects('not_found');
  });
});

describe('membership', () => {
  it('is given, changed and ended', () => {
    given(spaceDecider, created).when({ type: 'SetMember', userId: 'b', role: 'editor' }).yields(added('b', 'editor'));
    given(spaceDecider, created, added('b', 'editor'))
      .when({ type: 'SetMember', userId: 'b', role: 'viewer' })
      .yields({ type: 'SpaceMemberRoleChanged', data: { userId: 'b', role: 'viewer' } });
    given(spaceDecider, created, added('b', 'editor'))
      .when({ type: 'RemoveMember', userId: 'b' })
      .yields({ type: 'SpaceMemberRemoved', data: { userId: 'b', memberCount: 1 } });
  });

  it('keeps the last owner', () => {
    for (const command of [
      { type: 'RemoveMember', userId: 'a' },
      { type: 'SetMember', userId: 'a', role: 'editor' },
    ] as const) {
      given(spaceDecider, created, added('b', 'editor')).when(command).rejects('last_owner');
      expect(spaceDecider.decide(command, given(spaceDecider, created, added('b', 'owner')).state)).toHaveLength(1);
    }
  });

  it('forgets a user who is gone, also the last owner', () =>
    given(spaceDecider, created)
      .when({ type: 'ForgetMember', userId: 'a' })
      .yields({ type: 'SpaceMemberRemoved', data: { userId: 'a', memberCount: 0 } }));
});

describe('a personal Space', () => {
  it('has its one owner and ends with them', () => {
    given(spaceDecider, personal).when({ type: 'SetMember', userId: 'b', role: 'viewer' }).rejects('conflict');
    given(spaceDecider, personal).when({ type: 'RemoveMember', userId: 'a' }).rejects('conflict');
    given(spaceDecider, personal).when({ type: 'Delete' }).rejects('conflict');
    given(spaceDecider, personal)
      .when({ type: 'Delete', withUser: true })
      .yields({ type: 'SpaceDeleted', data: { released: [] } });
    given(spaceDecider).when({ type: 'Delete', withUser: true }).yields();
  });

  it('is made once, and not again after its user is gone', () => {
    const make = { type: 'Create', spaceId: 's', kind: 'personal', ownerId: 'a', fields } as const;
    given(spaceDecider).when(make).yields(personal);
    given(spaceDecider, personal, { type: 'SpaceDeleted', data: { released: [] } })
      .when(make)
      .yields();
  });
});

test('a decided command yields nothing again', () => {
  const userId = fc.constantFrom('a', 'b', 'c');
  const role = fc.constantFrom('viewer' as const, 'editor' as const, 'owner' as const);
  const commands: fc.Arbitrary<SpaceCommand> = fc.oneof(
    fc.constant(create),
    fc.record({
      type: fc.constant('Update' as const),
      fields: fc.record({ name: fc.constantFrom('A', 'B'), color: fc.constantFrom('#000000', '#ffffff') }),
      nameClaim: fc.constantFrom(claim('n2', 2), claim('n3', 3)),
    }),
    fc.record({ type: fc.constant('SetMember' as const), userId, role }),
    fc.record({ type: fc.constantFrom('RemoveMember' as const, 'ForgetMember' as const), userId }),
    fc
      .constantFrom(claim('n2', 2), claim('n9', 9))
      .map((forfeited) => ({ type: 'ForfeitClaim' as const, claim: forfeited })),
    fc.constant({ type: 'Delete' as const }),
  );
  decidesOnce(spaceDecider, commands);
});
