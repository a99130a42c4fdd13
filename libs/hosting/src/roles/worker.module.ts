import { KnowledgeModule } from '@app/knowledge';
import { Module } from '@nestjs/common';
import { MaintenanceModule } from '../maintenance.module';
import { Worker } from './worker';

/** What a process of the role `worker` runs. */
@Module({ imports: [KnowledgeModule, MaintenanceModule], providers: [Worker], exports: [Worker] })
export class WorkerModule {}
