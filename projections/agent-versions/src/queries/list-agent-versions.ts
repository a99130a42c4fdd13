import { findPage, type PageRequest, READ_STORE, type ReadStore, type Row, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { agentVersions } from '../agent-versions.projection';

/** The configurations an Agent had, newest first. */
export class ListAgentVersions extends Query<RowPage> {
  constructor(
    readonly agentId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListAgentVersions)
export class ListAgentVersionsHandler implements IQueryHandler<ListAgentVersions> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({ agentId, page }: ListAgentVersions): Promise<RowPage> {
    return findPage<Row>(
      this.store,
      agentVersions.name,
      { where: { agentId }, orderBy: [{ field: 'revision', order: 'desc' }] },
      page,
    );
  }
}
