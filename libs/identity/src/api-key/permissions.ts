import { z } from 'zod';
import type { InstanceRole } from '../user/user.events';

/** What a credential may be allowed to do (wire, Who is asking). */
export const permission = z.enum([
  'agents:read',
  'agents:write',
  'spaces:read',
  'spaces:write',
  'knowledge:read',
  'knowledge:write',
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
  'llm',
  'compat',
  'usage:read',
  'keys:write',
];

/** Most that each instance role may do; a key of such a user never does more. */
export const PERMISSIONS_OF_ROLE: Readonly<Record<InstanceRole, ReadonlySet<Permission>>> = {
  admin: new Set(ALL),
  member: new Set(MEMBER),
  auditor: new Set(['audit:read', 'audit:content']),
  operator: new Set(['operations']),
};
