import { EVENT_LOG, type LogReader } from '@app/event-log';
import { Unavailable } from '@app/kernel';
import { Projecting } from '@app/projecting';
import { READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { OPEN_RESTATEMENTS, type OpenRestatements } from '@app/spending';
import { Module } from '@nestjs/common';
import { invocations } from '@projections/invocations';
import { GetRestatementHandler } from './queries/get-restatement';
import { ListRestatementsHandler } from './queries/list-restatements';
import { type RestatementRow, restatements } from './restatements.projection';

/** Restatements looked at: an operator makes few. */
const NEWEST = 100;
/** How long it is waited for usage records to be complete. */
const VIEW_MS = 30_000;

/** Ids of the restatements among the newest hundred that were begun before a time, ISO 8601 UTC, and are not complete. */
const openRestatements = async (store: Pick<ReadStore, 'find'>, before: string): Promise<readonly string[]> => {
  const rows = (await store.find(restatements.name, {
    orderBy: [{ field: 'startedAt', order: 'desc' }],
    limit: NEWEST,
  })) as readonly StoredRow<RestatementRow>[];
  return rows.filter(({ row }) => row.closedAt === null && row.startedAt < before).map(({ key }) => key);
};

const openOnes =
  (log: LogReader, store: ReadStore, projecting: Projecting): OpenRestatements =>
  async (before) => {
    const open = await openRestatements(store, before.toISOString());
    if (open.length === 0) return [];
    const head = await log.head();
    if (head !== null && !(await projecting.waitFor(invocations.name, head, VIEW_MS)))
      throw new Unavailable('the view of usage', 'it is behind the log');
    return open;
  };

/** The view of restatements. */
@Module({
  providers: [
    GetRestatementHandler,
    ListRestatementsHandler,
    { provide: OPEN_RESTATEMENTS, inject: [EVENT_LOG, READ_STORE, Projecting], useFactory: openOnes },
  ],
  exports: [OPEN_RESTATEMENTS],
})
export class RestatementsViewModule {
  static readonly projections = [restatements];
}
