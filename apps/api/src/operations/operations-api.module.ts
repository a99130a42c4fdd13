import { MaintenanceModule } from '@app/hosting';
import { SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { BlobsController } from './blobs.controller';
import { DeadLettersController } from './dead-letters.controller';
import { ModelsController } from './models.controller';
import { ProjectionsController } from './projections.controller';
import { UsageOperationsController } from './usage.controller';

/** What operators do while the platform runs. */
@Module({
  imports: [MaintenanceModule, SpendingModule],
  controllers: [
    ProjectionsController,
    DeadLettersController,
    BlobsController,
    ModelsController,
    UsageOperationsController,
  ],
})
export class OperationsApiModule {}
