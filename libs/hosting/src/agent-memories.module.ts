import { Access, AccessModule } from '@app/access';
import { AGENT_MEMORIES } from '@app/conversations';
import { CONFIG, type Config, Decisions, LOGGER, provideWith } from '@app/kernel';
import { ACCESS_TO_AGENTS, MEMORY_RULES, MEMORY_SCREENER, MemoryModule } from '@app/memory';
import { Models } from '@app/models';
import { METERING, SpendingModule } from '@app/spending';
import { Global, Module } from '@nestjs/common';
import { accessToAgents, MemoriesOfAgents, rulesOfAgents } from './agent-memories';
import { memoryScreener } from './memory-screener';
import { ScreeningJudge, type ScreeningJudgeParts } from './screening-judge';

type ScreenerParts = Omit<ScreeningJudgeParts, 'currency'> & { readonly config: Config };

const screener = ({ config: { SCREENING_MODEL, DEFAULT_CURRENCY: currency }, ...parts }: ScreenerParts) =>
  memoryScreener(
    SCREENING_MODEL === undefined ? undefined : new ScreeningJudge(SCREENING_MODEL, { ...parts, currency }),
  );

/** What memories ask of Agents, Spaces and the screener, which they do not import. */
@Global()
@Module({
  imports: [AccessModule, SpendingModule],
  providers: [
    { provide: MEMORY_RULES, inject: [Decisions], useFactory: rulesOfAgents },
    { provide: ACCESS_TO_AGENTS, inject: [Access, Decisions], useFactory: accessToAgents },
    provideWith(MEMORY_SCREENER, screener, {
      config: CONFIG,
      models: Models,
      metering: METERING,
      decisions: Decisions,
      logger: LOGGER,
    }),
  ],
  exports: [ACCESS_TO_AGENTS, MEMORY_RULES, MEMORY_SCREENER],
})
export class MemoryPartsModule {}

/** What conversations ask of memories. */
@Global()
@Module({
  imports: [MemoryModule],
  providers: [{ provide: AGENT_MEMORIES, useClass: MemoriesOfAgents }],
  exports: [AGENT_MEMORIES],
})
export class AgentMemoriesModule {}
