import { PlatformModule, type ProcessOptions, ProjectorModule, WorkerModule } from '@app/hosting';
import { HttpModule } from '@app/http';
import { MonitoringModule } from '@app/process';
import { type DynamicModule, Module } from '@nestjs/common';
import { apiModules } from './api-modules';

/** A process of the platform: what its roles run, and what it answers over HTTP. */
@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    const { config } = options;
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(options),
        HttpModule,
        MonitoringModule,
        ...(config.ROLES.includes('api') ? apiModules : []),
        ...(config.ROLES.includes('projector') ? [ProjectorModule] : []),
        ...(config.ROLES.includes('worker') ? [WorkerModule] : []),
      ],
    };
  }
}
