import { AccessModule } from '@app/access';
import { MaintenanceModule } from '@app/hosting';
import { KnowledgeModule } from '@app/knowledge';
import { SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { BlobsController } from './blobs.controller';
import { DeadLettersController } from './dead-letters.controller';
import { ModelsController } from './models.controller';
import { InstanceReindexController } from './reindex.controller';
import { ProjectionsController } from './projections.controller';
import { UsageOperationsController } from './usage.controller';

/** What operators do while the platform runs. */
@Module({
  imports: [AccessModule, MaintenanceModule, SpendingModule, KnowledgeModule],
  controllers: [
    ProjectionsController,
    DeadLettersController,
    BlobsController,
    InstanceReindexController,
    ModelsController,
    UsageOperationsController,
  ],
})
export class OperationsApiModule {}
