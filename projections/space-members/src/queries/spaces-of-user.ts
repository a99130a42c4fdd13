import { setImmediate as nextTurn } from 'node:timers/promises';
import { findPage, type PageStart, type ReadStore } from '@app/read-store';
import { type SpaceMemberRow, spaceMembers } from '../space-members.projection';

const LIMIT = 500;

/** The Spaces a user is a member of, as the view knows them. Every list asks for them: `pagesOf` would cost as much as the page. */
export const spacesOfUser = async (store: Pick<ReadStore, 'find'>, userId: string): Promise<readonly string[]> => {
  const options = { where: { userId }, orderBy: [{ field: 'createdAt', order: 'desc' }] } as const;
  const spaceIds: string[] = [];
  for (let after: PageStart | undefined; ;) {
    const { rows, next } = await findPage<SpaceMemberRow>(store, spaceMembers.name, options, {
      limit: LIMIT,
      ...(after === undefined ? {} : { after }),
    });
    for (const { row } of rows) spaceIds.push(row.spaceId);
    if (next === null) return spaceIds;
    after = next;
    await nextTurn();
  }
};
