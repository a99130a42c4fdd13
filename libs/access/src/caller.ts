import type { InstanceRole, Permission } from '@app/identity';

export { type InstanceRole, instanceRole, permission, type Permission } from '@app/identity';
export { spaceRole, type SpaceRole } from '@app/spaces';

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
