import { defineIntegration, given, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { type SpaceEvent, spaceRole } from './space.events';

const subject = 'spaces';
const id = z.uuid();
const changed = z.enum(['name', 'slug', 'description', 'color', 'chunking']);
/** Members from then on. */
const memberCount = z.number().int().nonnegative();

const created = defineIntegration({
  name: 'space.created',
  version: 1,
  subject,
  description: 'A Space was created; its owner is its first member.',
  data: z.object({ spaceId: id, kind: z.enum(['team', 'personal']), ownerId: id }),
});
const updated = defineIntegration({
  name: 'space.updated',
  version: 1,
  subject,
  description: 'Fields of a Space changed: which ones, not their values.',
  data: z.object({ spaceId: id, changed: z.array(changed) }),
});
const memberAdded = defineIntegration({
  name: 'space.member-added',
  version: 1,
  subject,
  description: 'A user became a member of a Space.',
  data: z.object({ spaceId: id, userId: id, role: spaceRole, memberCount }),
});
const memberRoleChanged = defineIntegration({
  name: 'space.member-role-changed',
  version: 1,
  subject,
  description: 'The role of a member in a Space changed.',
  data: z.object({ spaceId: id, userId: id, role: spaceRole }),
});
const memberRemoved = defineIntegration({
  name: 'space.member-removed',
  version: 1,
  subject,
  description: 'A user is no longer a member of a Space.',
  data: z.object({ spaceId: id, userId: id, memberCount }),
});
const deleted = defineIntegration({
  name: 'space.deleted',
  version: 1,
  subject,
  description: 'A Space was deleted permanently. What was in it follows with its own events.',
  data: z.object({ spaceId: id }),
});

export const spaceIntegrations: Integrations<SpaceEvent> = {
  definitions: [created, updated, memberAdded, memberRoleChanged, memberRemoved, deleted],
  mapping: {
    SpaceCreated: ({ kind, ownerId }, spaceId) => integrationEvent(created, { spaceId, kind, ownerId }),
    SpaceChanged: (change, spaceId) => integrationEvent(updated, { spaceId, changed: given(changed, change) }),
    SpaceMemberAdded: ({ userId, role, memberCount: members }, spaceId) =>
      integrationEvent(memberAdded, { spaceId, userId, role, memberCount: members }),
    SpaceMemberRoleChanged: ({ userId, role }, spaceId) =>
      integrationEvent(memberRoleChanged, { spaceId, userId, role }),
    SpaceMemberRemoved: ({ userId, memberCount: members }, spaceId) =>
      integrationEvent(memberRemoved, { spaceId, userId, memberCount: members }),
    SpaceDeleted: (_, spaceId) => integrationEvent(deleted, { spaceId }),
  },
};
