import { type Clock, CLOCK, isErased, normalisedName } from '@app/kernel';
import { EVERYBODY, type MemoryCaller, type MemoryKind } from '@app/memory';
import { matchingPage, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { memories, type MemoryRow } from '../memories.projection';
import { isExpired } from './expired';

export interface MemoryFilter {
  readonly kind?: MemoryKind | undefined;
  readonly status?: 'proposed' | 'saved' | undefined;
  /** Words that all stand in the text, case-insensitively. */
  readonly q?: string | undefined;
}

/** The caller's own memories and proposals, with an Agent the shared ones of it too; newest first. */
export class ListMemories extends Query<RowPage<MemoryRow>> {
  constructor(
    readonly caller: MemoryCaller,
    /** Undefined: of all Agents. */
    readonly agentId: string | undefined,
    readonly filter: MemoryFilter,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListMemories)
export class ListMemoriesHandler implements IQueryHandler<ListMemories> {
  constructor(
    @Inject(READ_STORE) private readonly store: ReadStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ caller, agentId, filter, page }: ListMemories): Promise<RowPage<MemoryRow>> {
    const words = filter.q === undefined ? [] : normalisedName(filter.q).split(' ');
    const now = this.clock.now();
    const matches = (row: MemoryRow): boolean => {
      const { kind, status, text } = row;
      if (isExpired(row, now)) return false;
      if (filter.kind !== undefined && kind !== filter.kind) return false;
      if (filter.status !== undefined && status !== filter.status) return false;
      if (words.length === 0) return true;
      const said = isErased(text) ? '' : normalisedName(text);
      return words.every((word) => said.includes(word));
    };
    const lists =
      agentId === undefined
        ? [{ audience: caller.userId }]
        : [
            { audience: caller.userId, agentId },
            ...(caller.access === 'none' ? [] : [{ audience: EVERYBODY, agentId }]),
          ];
    return matchingPage<MemoryRow>(this.store, memories.name, lists, matches, page);
  }
}
