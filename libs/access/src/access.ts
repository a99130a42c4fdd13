import { agentDecider, type PresentAgent } from '@app/agents';
import { isLiving, userDecider } from '@app/identity';
import { Decisions, reject } from '@app/kernel';
import { type PresentSpace, promptDecider, type Space, spaceDecider, spaceRole, type SpaceRole } from '@app/spaces';
import { Injectable } from '@nestjs/common';
import type { Caller } from './caller';

/** A Space and the role in which a caller may use it. */
export interface SpaceAccess {
  readonly spaceId: string;
  readonly kind: 'team' | 'personal';
  /** The caller's role. Admins who are not members have `owner` here. */
  readonly role: SpaceRole;
  /** False for an admin who manages the Space without being its member: no documents, prompts or Agents for them. */
  readonly member: boolean;
}

/** An Agent that a caller may use. */
export interface AgentAccess {
  readonly agentId: string;
  readonly spaceId: string;
  readonly role: SpaceRole;
  readonly agent: PresentAgent;
}

/**
 * Decides who may access which Spaces and Agents. Folds their streams, never a view. Rejects what it cannot check,
 * except that reads continue for a while if the log is away.
 */
@Injectable()
export class Access {
  constructor(private readonly decisions: Decisions) {}

  /** A Space itself: its fields and members. Throws `not_found` (unknown, deleted and foreign alike) or `forbidden` (the role is too low). */
  async space(caller: Caller, spaceId: string, need: SpaceRole): Promise<SpaceAccess> {
    const space = (await this.presentSpace(spaceId)) ?? reject('not_found', { kind: 'space', id: spaceId });
    const own = space.members.get(caller.userId);
    const managed = caller.role === 'admin' && space.kind === 'team';
    const role = managed ? 'owner' : (own ?? reject('not_found', { kind: 'space', id: spaceId }));
    return reaches(role, need)
      ? { spaceId, kind: space.kind, role, member: own !== undefined }
      : reject('forbidden', { role: need, kind: 'space', id: spaceId });
  }

  /** As `space`, for what is inside it (prompts, Agents, documents): members only, admins included. */
  async content(caller: Caller, spaceId: string, need: SpaceRole): Promise<SpaceAccess> {
    const access = await this.space(caller, spaceId, need);
    const role =
      (await this.roleIn(caller.userId, spaceId)) ??
      reject('forbidden', { reason: 'members_only', kind: 'space', id: spaceId });
    return reaches(role, need) ? { ...access, role } : reject('forbidden', { role: need, kind: 'space', id: spaceId });
  }

  /** Throws `agent_not_granted` for a key without that grant, whether the Agent exists or not; else `not_found` or `forbidden`. */
  async agent(caller: Caller, agentId: string, need: 'use' | 'edit'): Promise<AgentAccess> {
    if (!caller.allAgents && !caller.agentIds.has(agentId))
      return reject('agent_not_granted', { kind: 'agent', id: agentId });
    const access = (await this.agentOf(caller.userId, agentId)) ?? reject('not_found', { kind: 'agent', id: agentId });
    const role = need === 'edit' ? 'editor' : 'viewer';
    return reaches(access.role, role) ? access : reject('forbidden', { role, kind: 'agent', id: agentId });
  }

  /** An Agent that a user may use, without a key in between; undefined if it is not visible to them. */
  async agentOf(userId: string, agentId: string): Promise<AgentAccess | undefined> {
    const { state: agent } = await this.decisions.recall(agentDecider, agentId);
    if (agent.status !== 'present' || (agent.isPersonal && agent.ownerId !== userId)) return undefined;
    const role = present((await this.decisions.recall(spaceDecider, agent.spaceId)).state)?.members.get(userId);
    return role === undefined ? undefined : { agentId, spaceId: agent.spaceId, role, agent };
  }

  /** Checks access to a prompt of a Space's library, as `content`. Throws `not_found` for one of another Space. */
  async prompt(caller: Caller, spaceId: string, promptId: string, need: SpaceRole): Promise<void> {
    await this.content(caller, spaceId, need);
    const { state: prompt } = await this.decisions.recall(promptDecider, promptId);
    if (prompt.status !== 'present' || prompt.spaceId !== spaceId)
      reject('not_found', { kind: 'prompt', id: promptId });
  }

  /** The role in which a caller sees a Space, as `space`; undefined if they do not. */
  async roleSeen(caller: Caller, spaceId: string): Promise<SpaceRole | undefined> {
    const space = await this.presentSpace(spaceId);
    return caller.role === 'admin' && space?.kind === 'team' ? 'owner' : space?.members.get(caller.userId);
  }

  /** The role of a user as a member of a Space; undefined for others, and if the Space is deleted. */
  async roleIn(userId: string, spaceId: string): Promise<SpaceRole | undefined> {
    return (await this.presentSpace(spaceId))?.members.get(userId);
  }

  /** Throws `not_found` for an unknown or deleted user. */
  async assertUser(userId: string): Promise<void> {
    if (!isLiving((await this.decisions.recall(userDecider, userId)).state))
      reject('not_found', { kind: 'user', id: userId });
  }

  /** Throws `not_found` for a user who is not a member of a Space. */
  async assertMember(spaceId: string, userId: string): Promise<void> {
    if ((await this.roleIn(userId, spaceId)) === undefined) reject('not_found', { kind: 'member', id: userId });
  }

  private async presentSpace(spaceId: string): Promise<PresentSpace | undefined> {
    return present((await this.decisions.recall(spaceDecider, spaceId)).state);
  }
}

const present = (space: Space): PresentSpace | undefined => (space.status === 'present' ? space : undefined);

const reaches = (role: SpaceRole, need: SpaceRole): boolean =>
  spaceRole.options.indexOf(role) >= spaceRole.options.indexOf(need);
