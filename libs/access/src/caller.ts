import type { InstanceRole, Permission } from '@app/identity';

export { type InstanceRole, instanceRole, permission, type Permission } from '@app/identity';
export { spaceRole, type SpaceRole } from '@app/spaces';

/** The caller of a request, with present rights: those of the key, limited to those of its user. */
export interface Caller {
  /** For events: `key:<id>`, also in a session, which acts as the key that it was started with. */
  readonly actor: string;
  /** `user:<id>` beside a key. */
  readonly onBehalfOf?: string;
  readonly userId: string;
  /** Instance role of the user. */
  readonly role: InstanceRole;
  readonly permissions: ReadonlySet<Permission>;
  /** The API key, if one was used. */
  readonly keyId?: string;
  /** Agents that the key is granted; an empty set grants none. Ignored if `allAgents` is true. */
  readonly agentIds: ReadonlySet<string>;
  readonly allAgents: boolean;
  /** The session, if the caller signed in; `expiresAt` is ISO 8601 UTC. */
  readonly session?: { readonly id: string; readonly expiresAt: string };
}
