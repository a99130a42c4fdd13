import { type Clock, CLOCK, reject } from '@app/kernel';
import { isVisible, type MemoryCaller } from '@app/memory';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { memories, type MemoryRow } from '../memories.projection';
import { isExpired } from './expired';

/** A memory of an Agent that the caller may see. Throws `not_found`, also for those of others. */
export class GetMemory extends Query<MemoryRow> {
  constructor(
    readonly caller: MemoryCaller,
    readonly agentId: string,
    readonly memoryId: string,
  ) {
    super();
  }
}

@QueryHandler(GetMemory)
export class GetMemoryHandler implements IQueryHandler<GetMemory> {
  constructor(
    @Inject(READ_STORE) private readonly store: ReadStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ caller, agentId, memoryId }: GetMemory): Promise<MemoryRow> {
    const row = (await this.store.get(memories.name, memoryId))?.row as MemoryRow | undefined;
    return row?.agentId === agentId && isVisible(row, caller) && !isExpired(row, this.clock.now())
      ? row
      : reject('not_found', { kind: 'memory', id: memoryId });
  }
}
