import { type PageRequest, READ_STORE, type ReadStore, type RowPage, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { invocationPages, type WantedInvocations } from '../invocation-pages';
import type { InvocationRow } from '../invocations.projection';

/** A page of model calls, newest first. */
export class ListInvocations extends Query<RowPage<InvocationRow>> {
  constructor(
    readonly wanted: WantedInvocations,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListInvocations)
export class ListInvocationsHandler implements IQueryHandler<ListInvocations> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ wanted, page: { limit, after } }: ListInvocations): Promise<RowPage<InvocationRow>> {
    const found: StoredRow<InvocationRow>[] = [];
    for await (const rows of invocationPages(this.store, wanted, { after, stride: limit + 1 })) {
      found.push(...rows);
      if (found.length > limit) break;
    }
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return { rows, next: found.length > limit && last !== undefined ? { values: [last.row.at], key: last.key } : null };
  }
}
