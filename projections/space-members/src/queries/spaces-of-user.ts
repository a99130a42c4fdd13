import { pagesOf, type ReadStore } from '@app/read-store';
import { type SpaceMemberRow, spaceMembers } from '../space-members.projection';

/** The Spaces a user is a member of, as the view knows them. */
export const spacesOfUser = async (store: Pick<ReadStore, 'find'>, userId: string): Promise<readonly string[]> => {
  const spaceIds: string[] = [];
  for await (const rows of pagesOf<SpaceMemberRow>(store, spaceMembers.name, {
    where: { userId },
    orderBy: [{ field: 'createdAt', order: 'desc' }],
  })) {
    for (const { row } of rows) spaceIds.push(row.spaceId);
  }
  return spaceIds;
};
