import { RUNNING_REINDEXES, type RunningReindexes } from '@app/knowledge';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { reindexes } from './reindexes.projection';

/** Jobs that a worker looks at in one sweep. */
const MOST = 100;

const lookUp =
  (store: Pick<ReadStore, 'find'>): RunningReindexes =>
  async () => {
    const orderBy = [{ field: 'startedAt', order: 'asc' as const }];
    const rows = await store.find(reindexes.name, { where: { state: 'running' }, orderBy, limit: MOST });
    return rows.map(({ key }) => key);
  };

/** The view `reindexes`. */
@Module({
  providers: [{ provide: RUNNING_REINDEXES, inject: [READ_STORE], useFactory: lookUp }],
  exports: [RUNNING_REINDEXES],
})
export class ReindexesViewModule {
  static readonly projections = [reindexes];
}
