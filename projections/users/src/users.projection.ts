import { instanceRole, language, type UserEvent } from '@app/identity';
import { categoryOf, givenFields, idOf, never, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A user as the API shows them. Mail address and name may be erased. */
export const userRow = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: instanceRole,
  language,
  status: z.enum(['active', 'suspended']),
  usageWindowStart: z.string(),
  createdAt: z.string(),
  revision: z.number().int(),
});
export type UserRow = z.output<typeof userRow>;

/** Users until they are deleted. */
export const users: RowProjection = {
  kind: 'rows',
  name: 'users',
  version: 1,
  perStream: true,
  types: [
    'UserCreated',
    'UserChanged',
    'UserRoleChanged',
    'UserSuspended',
    'UserReactivated',
    'UserDeleted',
    'ClaimForfeited',
  ],
  row: userRow,
  indexes: [{ name: 'newest', fields: [{ field: 'createdAt', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<UserEvent>;
    const { stream, revision, recordedAt } = event.context;
    const key = idOf(stream);
    switch (event.type) {
      case 'UserCreated': {
        const { email, name, role, language: spoken, usageWindowStart } = event.data;
        return [
          {
            op: 'put',
            key,
            row: {
              id: key,
              email,
              name,
              role,
              language: spoken,
              status: 'active',
              usageWindowStart,
              createdAt: recordedAt,
              revision,
            },
          },
        ];
      }
      case 'UserChanged': {
        const { mailClaim: _, releasedMailClaim: __, ...fields } = event.data;
        return [{ op: 'patch', key, fields: { ...givenFields(fields), revision } }];
      }
      case 'UserRoleChanged':
        return [{ op: 'patch', key, fields: { role: event.data.role, revision } }];
      case 'UserSuspended':
        return [{ op: 'patch', key, fields: { status: 'suspended', revision } }];
      case 'UserReactivated':
        return [{ op: 'patch', key, fields: { status: 'active', revision } }];
      case 'ClaimForfeited':
        // Spaces and Skills forfeit claims too. Nothing of it is shown but the revision, which `If-Match` means.
        return categoryOf(stream) === 'user' ? [{ op: 'patch', key, fields: { revision } }] : [];
      case 'UserDeleted':
        return [{ op: 'remove', key }];
      default:
        return never(event);
    }
  },
};
