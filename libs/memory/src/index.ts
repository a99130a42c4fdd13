export { Remembered } from './applying/remembered';
export { saidByUser } from './applying/said-by-user';
export { type Bucket, bucketDecider, countOf } from './bucket/bucket.decider';
export { bucketIdOf } from './bucket/places';
export {
  EVERYBODY,
  MEMORIES_OF,
  type MemoriesOf,
  OPEN_PROPOSALS,
  type OpenProposals,
  type MemoryRules,
  MEMORY_RULES,
  type RulesOfAgents,
  ACCESS_TO_AGENTS,
  type AccessToAgents,
  SAVED_MEMORIES,
  type SavedMemories,
} from './lookups';
export { type MemoryChoice, ChooseMemory } from './memory/commands/choose-memory';
export { ClearMemories, type Cleared } from './memory/commands/clear-memories';
export { CreateMemory } from './memory/commands/create-memory';
export { DeleteMemory } from './memory/commands/delete-memory';
export { UpdateMemory } from './memory/commands/update-memory';
export { isVisible, type MemoryCaller, visibleMemory } from './memory/memory-access';
export { memoryDecider } from './memory/memory.decider';
export { memoryKind, type MemoryKind, memoryOrigin, memorySource, type MemoryEvent } from './memory/memory.events';
export { MEMORY_SCREENER, type ScreenedFor, type MemoryScreener } from './screened-texts';
export { MemoryModule } from './memory.module';
