import { PlatformModule, type ProcessOptions, WorkerModule } from '@app/hosting';
import { HttpModule } from '@app/http';
import { MonitoringModule, type Program } from '@app/process';
import { type DynamicModule, Module } from '@nestjs/common';

/** A process of workers: over HTTP it answers how it is doing. */
@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(options), HttpModule, MonitoringModule, WorkerModule],
    };
  }
}

/** The role `worker` alone. */
export const worker: Program = { name: 'apps/worker', roles: ['worker'], module: AppModule };
