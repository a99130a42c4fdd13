import { AGENT_MEMORIES } from '@app/conversations';
import { CLOCK, Decisions, LOGGER, provideWith } from '@app/kernel';
import { MEMORY_RULES, MEMORY_SCREENER, MemoryModule, Remembered } from '@app/memory';
import { Global, Module } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type AgentMemoriesParts, MemoriesOfAgents, rulesOfAgents } from './agent-memories';
import { memoryScreener } from './memory-screener';

/** What memories ask of Agents, Spaces and the screener, which they do not import. */
@Global()
@Module({
  providers: [
    { provide: MEMORY_RULES, inject: [Decisions], useFactory: rulesOfAgents },
    { provide: MEMORY_SCREENER, useFactory: memoryScreener },
  ],
  exports: [MEMORY_RULES, MEMORY_SCREENER],
})
export class MemoryPartsModule {}

/** What conversations ask of memories. */
@Global()
@Module({
  imports: [MemoryModule],
  providers: [
    provideWith(AGENT_MEMORIES, (parts: AgentMemoriesParts) => new MemoriesOfAgents(parts), {
      decisions: Decisions,
      remembered: Remembered,
      commands: CommandBus,
      clock: CLOCK,
      logger: LOGGER,
    }),
  ],
  exports: [AGENT_MEMORIES],
})
export class AgentMemoriesModule {}
