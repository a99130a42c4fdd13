import {
  EVERYBODY,
  MEMORIES_OF,
  type MemoriesOf,
  OPEN_PROPOSALS,
  type OpenProposals,
  SAVED_MEMORIES,
  type SavedMemories,
} from '@app/memory';
import { CompleteViews } from '@app/projecting';
import { pagesOf, READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { memories, type MemoryRow } from './memories.projection';
import { GetMemoryHandler } from './queries/get-memory';
import { ListMemoriesHandler } from './queries/list-memories';

const lookUp =
  (views: CompleteViews): MemoriesOf =>
  (owner, position) =>
    views.keys(memories.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);

const openProposals = (store: ReadStore): OpenProposals => ({
  firstToExpire: async (limit) =>
    (
      await store.find(memories.name, {
        where: { status: 'proposed' },
        orderBy: [{ field: 'expiresAt', order: 'asc' }],
        limit,
      })
    )
      // Rows of this view are what its projection wrote.
      .flatMap(({ row }) => openOf(row as MemoryRow)),
});

const openOf = ({ id: memoryId, status, expiresAt }: MemoryRow) =>
  status === 'proposed' && expiresAt !== null ? [{ memoryId, expiresAt }] : [];

const savedMemories =
  (store: ReadStore): SavedMemories =>
  async (agentId, userId, withShared) => {
    const found: MemoryRow[] = [];
    for (const audience of [userId, ...(withShared ? [EVERYBODY] : [])])
      for await (const rows of pagesOf<MemoryRow>(store, memories.name, {
        where: { audience, agentId },
        orderBy: [{ field: 'createdAt', order: 'desc' }],
      }))
        found.push(...rows.map(({ row }) => row).filter(({ status }) => status === 'saved'));
    return found;
  };

/** The view `memories`. */
@Module({
  providers: [
    GetMemoryHandler,
    ListMemoriesHandler,
    { provide: MEMORIES_OF, inject: [CompleteViews], useFactory: lookUp },
    { provide: OPEN_PROPOSALS, inject: [READ_STORE], useFactory: openProposals },
    { provide: SAVED_MEMORIES, inject: [READ_STORE], useFactory: savedMemories },
  ],
  exports: [MEMORIES_OF, OPEN_PROPOSALS, SAVED_MEMORIES],
})
export class MemoriesViewModule {
  static readonly projections = [memories];
}
