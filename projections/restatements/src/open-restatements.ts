import type { ReadStore, StoredRow } from '@app/read-store';
import { type RestatementRow, restatements } from './restatements.projection';

/** Restatements looked at: an operator makes few. */
const NEWEST = 100;

/** Ids of the restatements among the newest hundred that were begun before a time, ISO 8601 UTC, and are not complete. */
export const openRestatements = async (store: Pick<ReadStore, 'find'>, before: string): Promise<readonly string[]> => {
  const rows = (await store.find(restatements.name, {
    orderBy: [{ field: 'startedAt', order: 'desc' }],
    limit: NEWEST,
  })) as readonly StoredRow<RestatementRow>[];
  return rows.filter(({ row }) => row.closedAt === null && row.startedAt < before).map(({ key }) => key);
};
