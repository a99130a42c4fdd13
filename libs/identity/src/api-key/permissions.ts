import { z } from 'zod';
import type { InstanceRole } from '../user/user.events';

/** Permissions of a credential (wire, Who is asking). */
export const permission = z.enum([
  'agents:read',
  'agents:write',
  'spaces:read',
  'spaces:write',
  'knowledge:read',
  'knowledge:write',
  'skills:read',
  'skills:write',
  'memory:read',
  'memory:write',
  'llm',
  'compat',
  'usage:read',
  'cost:write',
  'keys:write',
  'users:write',
  'audit:read',
  'audit:content',
  'operations',
]);
export type Permission = z.output<typeof permission>;

const ALL = permission.options;
const MEMBER: readonly Permission[] = [
  'agents:read',
  'agents:write',
  'spaces:read',
  'spaces:write',
  'knowledge:read',
  'knowledge:write',
  'skills:read',
  'skills:write',
  'memory:read',
  'memory:write',
  'llm',
  'compat',
  'usage:read',
  'keys:write',
];

/** The permissions of each instance role. A key of such a user never has more. */
export const PERMISSIONS_OF_ROLE: Readonly<Record<InstanceRole, ReadonlySet<Permission>>> = {
  admin: new Set(ALL),
  member: new Set(MEMBER),
  auditor: new Set(['audit:read', 'audit:content']),
  operator: new Set(['operations']),
};
