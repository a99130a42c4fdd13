import { Access, type AgentAccess, type Caller } from '@app/access';
import { isDomainError, reject } from '@app/kernel';
import type { MemoryCaller } from '@app/memory';
import { ListMemories } from '@projections/memories';
import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';

/** Who asks for the memories of an Agent. Users keep what is their own of Agents that they lost. */
@Injectable()
export class MemoryCallers {
  constructor(
    private readonly access: Access,
    private readonly queries: QueryBus,
  ) {}

  /** Throws `agent_not_granted` for a key without the Agent, and `not_found` for an Agent that is not visible, unless it remembers something of the caller. */
  async of(caller: Caller, agentId: string): Promise<MemoryCaller> {
    const { userId } = caller;
    const found = await this.find(caller, agentId);
    if (found !== undefined) return { userId, access: found.role === 'viewer' ? 'use' : 'edit' };
    const memoryCaller = { userId, access: 'none' } as const;
    const { rows } = await this.queries.execute(new ListMemories(memoryCaller, agentId, {}, { limit: 1 }));
    return rows.length > 0 ? memoryCaller : reject('not_found', { kind: 'agent', id: agentId });
  }

  /** Who may add to the memories of an Agent: its users. Throws `not_found`. */
  async ofUser(caller: Caller, agentId: string): Promise<MemoryCaller & { readonly spaceId: string }> {
    const found = await this.access.agent(caller, agentId, 'use');
    return {
      userId: caller.userId,
      access: found.role === 'viewer' ? 'use' : 'edit',
      spaceId: found.spaceId,
    };
  }

  private async find(caller: Caller, agentId: string): Promise<AgentAccess | undefined> {
    try {
      return await this.access.agent(caller, agentId, 'use');
    } catch (error) {
      if (isDomainError(error, 'not_found')) return undefined;
      throw error;
    }
  }
}
