import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { MemoriesController } from './memories.controller';
import { MemoryCallers } from './memory-callers';
import { MemoryChoicesController } from './memory-choices.controller';
import { OwnMemoriesController } from './own-memories.controller';

/** What Agents remember of their users, and share with them. */
@Module({
  imports: [AccessModule],
  controllers: [MemoriesController, MemoryChoicesController, OwnMemoriesController],
  providers: [MemoryCallers],
})
export class MemoryApiModule {}
