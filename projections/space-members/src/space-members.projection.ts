import { idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { type SpaceEvent, spaceRole } from '@app/spaces';
import { z } from 'zod';

/** A membership. The member's name is in the view of users. */
export const spaceMemberRow = z.object({
  spaceId: z.string(),
  userId: z.string(),
  role: spaceRole,
  createdAt: z.string(),
});
export type SpaceMemberRow = z.output<typeof spaceMemberRow>;

type MemberEvent = Extract<
  SpaceEvent,
  {
    readonly type:
      'SpaceCreated' | 'SpaceMemberAdded' | 'SpaceMemberRoleChanged' | 'SpaceMemberRemoved' | 'SpaceDeleted';
  }
>;

/** The key of the row of a membership. */
export const memberKey = (spaceId: string, userId: string): string => `${spaceId}/${userId}`;

/** Who is a member of which Space. A deleted user is forgotten by a policy, which finds the Spaces here. */
export const spaceMembers: RowProjection = {
  kind: 'rows',
  name: 'space-members',
  version: 1,
  perStream: true,
  types: ['SpaceCreated', 'SpaceMemberAdded', 'SpaceMemberRoleChanged', 'SpaceMemberRemoved', 'SpaceDeleted'],
  row: spaceMemberRow,
  indexes: [
    { name: 'newest-of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'newest-of-user', fields: [{ field: 'userId' }, { field: 'createdAt', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<MemberEvent>;
    const { stream, recordedAt } = event.context;
    const id = idOf(stream);
    switch (event.type) {
      case 'SpaceCreated':
        return [
          {
            op: 'put',
            key: memberKey(id, event.data.ownerId),
            row: { spaceId: id, userId: event.data.ownerId, role: 'owner', createdAt: recordedAt },
          },
        ];
      case 'SpaceMemberAdded':
        return [
          {
            op: 'put',
            key: memberKey(id, event.data.userId),
            row: { spaceId: id, userId: event.data.userId, role: event.data.role, createdAt: recordedAt },
          },
        ];
      case 'SpaceMemberRoleChanged':
        return [{ op: 'patch', key: memberKey(id, event.data.userId), fields: { role: event.data.role } }];
      case 'SpaceMemberRemoved':
        return [{ op: 'remove', key: memberKey(id, event.data.userId) }];
      case 'SpaceDeleted':
        return [{ op: 'removeWhere', where: { spaceId: id } }];
      default:
        return never(event);
    }
  },
};
