import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore, type Row } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { agentVersions, versionKey } from '../agent-versions.projection';

/** One configuration that an Agent had. Throws `not_found`. */
export class GetAgentVersion extends Query<Row> {
  constructor(
    readonly agentId: string,
    readonly revision: string,
  ) {
    super();
  }
}

@QueryHandler(GetAgentVersion)
export class GetAgentVersionHandler implements IQueryHandler<GetAgentVersion> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ agentId, revision }: GetAgentVersion): Promise<Row> {
    return (
      (await this.store.get(agentVersions.name, versionKey(agentId, revision)))?.row ??
      reject('not_found', { kind: 'version', id: revision })
    );
  }
}
