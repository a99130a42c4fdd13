import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type RestatementRow, restatements } from '../restatements.projection';

/** A restatement. Throws `not_found`. */
export class GetRestatement extends Query<RestatementRow> {
  constructor(readonly restatementId: string) {
    super();
  }
}

@QueryHandler(GetRestatement)
export class GetRestatementHandler implements IQueryHandler<GetRestatement> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ restatementId }: GetRestatement): Promise<RestatementRow> {
    return (
      ((await this.store.get(restatements.name, restatementId))?.row as RestatementRow | undefined) ??
      reject('not_found', { kind: 'restatement', id: restatementId })
    );
  }
}
