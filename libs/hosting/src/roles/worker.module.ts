import { KnowledgeModule } from '@app/knowledge';
import { SectionSummariesModule } from '@app/section-summaries';
import { Module } from '@nestjs/common';
import { MaintenanceModule } from '../maintenance.module';
import { Worker } from './worker';

/** What a process of the role `worker` runs. */
@Module({
  imports: [KnowledgeModule, SectionSummariesModule, MaintenanceModule],
  providers: [Worker],
  exports: [Worker],
})
export class WorkerModule {}
