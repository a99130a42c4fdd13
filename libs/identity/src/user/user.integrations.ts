import { defineIntegration, given, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { instanceRole, type UserEvent } from './user.events';

const subject = 'users';
const userId = z.uuid();
const changed = z.enum(['email', 'name', 'language', 'usageWindowStart']);

const created = defineIntegration({
  name: 'user.created',
  version: 1,
  subject,
  description: 'A user was created.',
  data: z.object({ userId, role: instanceRole }),
});
const updated = defineIntegration({
  name: 'user.updated',
  version: 1,
  subject,
  description: 'Fields of a user changed: which ones, not their values.',
  data: z.object({ userId, changed: z.array(changed) }),
});
const roleChanged = defineIntegration({
  name: 'user.role-changed',
  version: 1,
  subject,
  description: 'The instance role of a user changed.',
  data: z.object({ userId, role: instanceRole }),
});
const suspended = defineIntegration({
  name: 'user.suspended',
  version: 1,
  subject,
  description: 'A user was suspended.',
  data: z.object({ userId }),
});
const reactivated = defineIntegration({
  name: 'user.reactivated',
  version: 1,
  subject,
  description: 'A suspended user was reactivated.',
  data: z.object({ userId }),
});
const deleted = defineIntegration({
  name: 'user.deleted',
  version: 1,
  subject,
  description: 'A user was deleted permanently. Delete what you hold about them.',
  data: z.object({ userId }),
});

export const userIntegrations: Integrations<UserEvent> = {
  definitions: [created, updated, roleChanged, suspended, reactivated, deleted],
  mapping: {
    UserCreated: ({ role }, id) => integrationEvent(created, { userId: id, role }),
    UserChanged: (change, id) => integrationEvent(updated, { userId: id, changed: given(changed, change) }),
    UserRoleChanged: ({ role }, id) => integrationEvent(roleChanged, { userId: id, role }),
    UserSuspended: (_, id) => integrationEvent(suspended, { userId: id }),
    UserReactivated: (_, id) => integrationEvent(reactivated, { userId: id }),
    UserDeleted: (_, id) => integrationEvent(deleted, { userId: id }),
  },
};
