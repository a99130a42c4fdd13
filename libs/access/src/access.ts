import type { Caller, SpaceRole } from './caller';

/** A Space that a caller may use in a role. */
export interface SpaceAccess {
  readonly spaceId: string;
  readonly kind: 'team' | 'personal';
  /** The caller's role; admins who are no members have `owner` here. */
  readonly role: SpaceRole;
  /** False for an admin who manages the Space without being its member: no documents, prompts or Agents for them. */
  readonly member: boolean;
}

/** An Agent that a caller may use. */
export interface AgentAccess {
  readonly agentId: string;
  readonly spaceId: string;
  readonly role: SpaceRole;
}

/** Who may do what with Spaces and Agents. Folds their streams, never a view; what cannot be read is refused. */
export abstract class Access {
  /** Refuses with `not_found` (unknown, deleted or foreign alike) or `forbidden` (the role is too low). */
  abstract space(caller: Caller, spaceId: string, need: SpaceRole): Promise<SpaceAccess>;
  /** As `space`, for what is inside it (prompts, Agents, documents): members only, admins included. */
  abstract content(caller: Caller, spaceId: string, need: SpaceRole): Promise<SpaceAccess>;
  /** Refuses with `agent_not_granted` for a key without that grant, whether the Agent exists or not; else `not_found` or `forbidden`. */
  abstract agent(caller: Caller, agentId: string, need: 'use' | 'edit'): Promise<AgentAccess>;
}
