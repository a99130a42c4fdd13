import type { SpaceEvent } from '@app/spaces';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { spaces } from './spaces.projection';

const claim = { key: 'k', ticket: '01900000-0000-7000-8000-000000000001' };
const event = (revision: number, given: SpaceEvent) => happened('space-s1', revision, given);
const fields = { name: 'Team', slug: 'team', description: '', color: '#3B82F6' };
const created = event(0, {
  type: 'SpaceCreated',
  data: { spaceId: 's1', kind: 'team', ownerId: 'u1', ...fields, nameClaim: claim, slugClaim: claim },
});
const row = {
  id: 's1',
  ...fields,
  chunking: null,
  kind: 'team',
  memberCount: 1,
  createdAt: at(0),
  updatedAt: at(0),
  revision: 0,
};

describe('the view of Spaces', () => {
  it('shows a Space, without its claims', () => expect(rowsAfter(spaces, created)).toEqual({ s1: row }));

  it('follows changes and counts members', () =>
    expect(
      rowsAfter(
        spaces,
        created,
        event(1, { type: 'SpaceChanged', data: { name: 'Crew', nameClaim: claim, released: [claim] } }),
        event(2, { type: 'SpaceMemberAdded', data: { userId: 'u2', role: 'viewer', memberCount: 2 } }),
        event(3, { type: 'SpaceMemberAdded', data: { userId: 'u3', role: 'viewer', memberCount: 3 } }),
        event(4, { type: 'SpaceMemberRemoved', data: { userId: 'u2', memberCount: 2 } }),
        event(5, { type: 'SpaceChanged', data: { chunking: { maxTokens: 200, overlapTokens: 20 }, released: [] } }),
        event(6, { type: 'SpaceMemberRoleChanged', data: { userId: 'u3', role: 'owner' } }),
      ),
    ).toEqual({
      s1: {
        ...row,
        name: 'Crew',
        chunking: { maxTokens: 200, overlapTokens: 20 },
        memberCount: 2,
        updatedAt: at(6),
        revision: 6,
      },
    }));

  it('has the revision of what shows nothing, too: a write that expects it is not rejected', () => {
    const forfeited = { type: 'ClaimForfeited', data: claim } as const;
    expect(rowsAfter(spaces, created, event(1, forfeited))).toEqual({ s1: { ...row, revision: 1 } });
    expect(rowsAfter(spaces, created, happened('user-s1', 1, forfeited))).toEqual({ s1: row });
  });

  it('loses the deleted', () =>
    expect(rowsAfter(spaces, created, event(1, { type: 'SpaceDeleted', data: { released: [] } }))).toEqual({}));
});
