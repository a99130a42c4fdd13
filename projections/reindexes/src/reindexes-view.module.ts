import { RUNNING_REINDEXES, type RunningReindexes } from '@app/knowledge';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { OPEN_STATES, type ReindexRow, reindexes } from './reindexes.projection';

/** Jobs that a worker looks at in one sweep. */
const MOST = 100;

const lookUp = (store: Pick<ReadStore, 'find'>): RunningReindexes => {
  const orderBy = [{ field: 'startedAt', order: 'asc' as const }];
  const inStates = async (states: readonly ReindexRow['state'][]): Promise<readonly string[]> => {
    const rows = await store.find(reindexes.name, { where: { state: { in: states } }, orderBy, limit: MOST });
    return rows.map(({ key }) => key);
  };
  return { running: () => inStates(['running']), open: () => inStates(OPEN_STATES) };
};

/** The view `reindexes`. */
@Module({
  providers: [{ provide: RUNNING_REINDEXES, inject: [READ_STORE], useFactory: lookUp }],
  exports: [RUNNING_REINDEXES],
})
export class ReindexesViewModule {
  static readonly projections = [reindexes];
}
