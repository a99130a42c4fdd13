import type { PageStart, ReadStore, StoredRow } from '@app/read-store';
import { type SpaceMemberRow, spaceMembers } from '../space-members.projection';

const PAGE = 1_000;

/** The Spaces a user is a member of, as the view knows them. */
export const spacesOfUser = async (store: Pick<ReadStore, 'find'>, userId: string): Promise<readonly string[]> => {
  const spaceIds: string[] = [];
  for (let after: PageStart | undefined; ; ) {
    const options = { where: { userId }, orderBy: [{ field: 'createdAt', order: 'desc' }], limit: PAGE } as const;
    const rows = (await store.find(spaceMembers.name, after === undefined ? options : { ...options, after })) as readonly StoredRow<SpaceMemberRow>[];
    for (const { row } of rows) spaceIds.push(row.spaceId);
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return spaceIds;
    after = { values: [last.row.createdAt], key: last.key };
  }
};
