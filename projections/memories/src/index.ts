export { MemoriesViewModule } from './memories-view.module';
export { memoryRow, type MemoryRow, memories } from './memories.projection';
export { GetMemory } from './queries/get-memory';
export { ListMemories } from './queries/list-memories';
