import { RUNNING_REINDEXES, type RunningReindexes } from '@app/knowledge';
import { pagesOf, READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { OPEN_STATES, type ReindexRow, reindexes } from './reindexes.projection';

/** Looks jobs up, all of them: those that cannot go on now keep no others waiting. */
export const reindexesIn = (store: Pick<ReadStore, 'find'>): RunningReindexes => {
  const orderBy = [{ field: 'startedAt', order: 'asc' as const }];
  const inStates = async (states: readonly ReindexRow['state'][]): Promise<readonly string[]> => {
    const ids: string[] = [];
    for await (const rows of pagesOf(store, reindexes.name, { where: { state: { in: states } }, orderBy }))
      for (const { key } of rows) ids.push(key);
    return ids;
  };
  return { running: () => inStates(['running']), open: () => inStates(OPEN_STATES) };
};

/** The view `reindexes`. */
@Module({
  providers: [{ provide: RUNNING_REINDEXES, inject: [READ_STORE], useFactory: reindexesIn }],
  exports: [RUNNING_REINDEXES],
})
export class ReindexesViewModule {
  static readonly projections = [reindexes];
}
