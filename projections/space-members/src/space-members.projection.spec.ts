import type { SpaceEvent } from '@app/spaces';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { spaceMembers } from './space-members.projection';

const event = (revision: number, given: SpaceEvent) => happened('space-s1', revision, given);
const created = event(0, {
  type: 'SpaceCreated',
  data: { spaceId: 's1', kind: 'team', ownerId: 'u1', name: 'T', slug: 't', description: '', color: '#000000' },
});
const added = event(1, { type: 'SpaceMemberAdded', data: { userId: 'u2', role: 'viewer', memberCount: 2 } });

describe('the view of members', () => {
  it('begins with the owner and follows roles', () =>
    expect(
      rowsAfter(
        spaceMembers,
        created,
        added,
        event(2, { type: 'SpaceMemberRoleChanged', data: { userId: 'u2', role: 'editor' } }),
      ),
    ).toEqual({
      's1/u1': { spaceId: 's1', userId: 'u1', role: 'owner', createdAt: at(0) },
      's1/u2': { spaceId: 's1', userId: 'u2', role: 'editor', createdAt: at(1) },
    }));

  it('loses who left, and all when the Space is deleted', () => {
    expect(
      Object.keys(
        rowsAfter(
          spaceMembers,
          created,
          added,
          event(2, { type: 'SpaceMemberRemoved', data: { userId: 'u2', memberCount: 1 } }),
        ),
      ),
    ).toEqual(['s1/u1']);
    expect(rowsAfter(spaceMembers, created, added, event(2, { type: 'SpaceDeleted', data: { released: [] } }))).toEqual(
      {},
    );
  });
});
