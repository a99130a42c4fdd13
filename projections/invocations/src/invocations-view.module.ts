import { READ_STORE, type ReadStore } from '@app/read-store';
import { CALLS_BEHIND, type CallsBehind } from '@app/spending';
import { Module } from '@nestjs/common';
import { invocationPages } from './invocation-pages';
import { invocations } from './invocations.projection';
import { GetInvocationHandler } from './queries/get-invocation';
import { ListInvocationsHandler } from './queries/list-invocations';

const callsBehind = (store: ReadStore): CallsBehind =>
  async function* (period, place) {
    const after = place === null ? undefined : { values: [place.at], key: place.id };
    for await (const rows of invocationPages(store, { filters: [], ...period }, { order: 'asc', after }))
      yield rows.map(({ row }) => row);
  };

/** The view of model calls. */
@Module({
  providers: [
    GetInvocationHandler,
    ListInvocationsHandler,
    { provide: CALLS_BEHIND, inject: [READ_STORE], useFactory: callsBehind },
  ],
  exports: [CALLS_BEHIND],
})
export class InvocationsViewModule {
  static readonly projections = [invocations];
}
