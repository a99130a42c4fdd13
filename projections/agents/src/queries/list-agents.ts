import { newestOf, type PageRequest, READ_STORE, type ReadStore, type RowPage, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type AgentRow, agents } from '../agents.projection';

/** The Agents of Spaces, newest first; `among`: only those of these Agents. */
export class ListAgents extends Query<RowPage<AgentRow>> {
  constructor(
    readonly spaceIds: readonly string[],
    readonly among: ReadonlySet<string> | undefined,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListAgents)
export class ListAgentsHandler implements IQueryHandler<ListAgents> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ spaceIds, among, page }: ListAgents): Promise<RowPage<AgentRow>> {
    if (among === undefined) return newestOf<AgentRow>(this.store, agents.name, spaceIds.map((spaceId) => ({ spaceId })), page);
    const named = (await this.store.getMany(agents.name, [...among])) as readonly StoredRow<AgentRow>[];
    return newestOf<AgentRow>(this.store, agents.name, [], page, named.filter(({ row }) => spaceIds.includes(row.spaceId)));
  }
}
