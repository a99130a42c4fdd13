/** What a credential may be allowed to do (wire, Who is asking). */
export const PERMISSIONS = [
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
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const INSTANCE_ROLES = ['admin', 'member', 'auditor', 'operator'] as const;
export type InstanceRole = (typeof INSTANCE_ROLES)[number];

export const SPACE_ROLES = ['viewer', 'editor', 'owner'] as const;
export type SpaceRole = (typeof SPACE_ROLES)[number];

/** Who is asking, with the rights of this very moment: a key's own, cut down to what its user may do today. */
export interface Caller {
  /** For events: `key:<id>` for a key, `user:<id>` for a session. */
  readonly actor: string;
  /** `user:<id>` beside a key. */
  readonly onBehalfOf?: string;
  readonly userId: string;
  /** Instance role of the user. */
  readonly role: InstanceRole;
  readonly permissions: ReadonlySet<Permission>;
  /** The API key, where one was used. */
  readonly keyId?: string;
  /** Agents that the key is granted; nothing is granted by an empty set. Not asked where `allAgents` is true. */
  readonly agentIds: ReadonlySet<string>;
  readonly allAgents: boolean;
}
