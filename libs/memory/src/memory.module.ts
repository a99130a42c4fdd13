import { UnfinishedWork } from '@app/projecting';
import { Module, type OnModuleInit } from '@nestjs/common';
import { Remembered } from './applying/remembered';
import { Places } from './bucket/places';
import { ProposalExpiry } from './proposal-expiry';
import { memoryAggregates } from './memory.aggregates';
import { ChooseMemoryHandler } from './memory/commands/choose-memory';
import { ClearMemoriesHandler } from './memory/commands/clear-memories';
import { CreateMemoryHandler } from './memory/commands/create-memory';
import { DeleteMemoryHandler } from './memory/commands/delete-memory';
import { UpdateMemoryHandler } from './memory/commands/update-memory';
import { Forgetting } from './memory/forgetting';
import { DeleteMemoriesOfTheDeleted } from './policies/delete-memories.policy';
import { SettleMemoryPlaces } from './policies/settle-memory-places.policy';
import { ScreenedTexts } from './screened-texts';

/** What Agents remember. Views provide `MEMORIES_OF`, `OPEN_PROPOSALS` and `SAVED_MEMORIES`, hosting `MEMORY_RULES`, `ACCESS_TO_AGENTS` and `MEMORY_SCREENER`. */
@Module({
  providers: [
    CreateMemoryHandler,
    ChooseMemoryHandler,
    UpdateMemoryHandler,
    DeleteMemoryHandler,
    ClearMemoriesHandler,
    DeleteMemoriesOfTheDeleted,
    SettleMemoryPlaces,
    Places,
    ScreenedTexts,
    Forgetting,
    ProposalExpiry,
    Remembered,
  ],
  exports: [Remembered],
})
export class MemoryModule implements OnModuleInit {
  static readonly aggregates = memoryAggregates;

  constructor(
    private readonly expiry: ProposalExpiry,
    private readonly unfinished: UnfinishedWork,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'memory-proposals', finish: () => this.expiry.discardExpired() });
  }
}
