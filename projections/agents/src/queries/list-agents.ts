import {
  matchingPage,
  newestOf,
  type PageRequest,
  READ_STORE,
  type ReadStore,
  type RowPage,
  type StoredRow,
} from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { spacesOfUser } from '@projections/space-members';
import { type AgentRow, agents } from '../agents.projection';

/** Agents read at once. Each may have a long prompt. */
const FEW = 20;

/** The Agents in a user's Spaces, or in one of them, newest first. `among`: only these Agents. */
export class ListAgents extends Query<RowPage<AgentRow>> {
  constructor(
    readonly userId: string,
    readonly spaceId: string | undefined,
    readonly among: ReadonlySet<string> | undefined,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListAgents)
export class ListAgentsHandler implements IQueryHandler<ListAgents> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ userId, spaceId: only, among, page }: ListAgents): Promise<RowPage<AgentRow>> {
    const spaceIds = (await spacesOfUser(this.store, userId)).filter(
      (spaceId) => only === undefined || spaceId === only,
    );
    const lists = spaceIds.map((spaceId) => ({ spaceId }));
    if (among === undefined) return newestOf<AgentRow>(this.store, agents.name, lists, page);
    if (among.size > FEW)
      return matchingPage<AgentRow>(this.store, agents.name, lists, ({ id }) => among.has(id), page);
    const named = (await this.store.getMany(agents.name, [...among])) as readonly StoredRow<AgentRow>[];
    return newestOf<AgentRow>(
      this.store,
      agents.name,
      [],
      page,
      named.filter(({ row }) => spaceIds.includes(row.spaceId)),
    );
  }
}
