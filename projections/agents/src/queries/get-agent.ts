import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type AgentRow, agents } from '../agents.projection';

/** Throws `not_found`. */
export class GetAgent extends Query<AgentRow> {
  constructor(readonly agentId: string) {
    super();
  }
}

@QueryHandler(GetAgent)
export class GetAgentHandler implements IQueryHandler<GetAgent> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ agentId }: GetAgent): Promise<AgentRow> {
    return (
      ((await this.store.get(agents.name, agentId))?.row as AgentRow | undefined) ??
      reject('not_found', { kind: 'agent', id: agentId })
    );
  }
}
