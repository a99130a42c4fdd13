import { PlatformModule, type ProcessOptions } from '@app/hosting';
import { type DynamicModule, Module } from '@nestjs/common';
import { ProjectorModule } from '../../projector/src/projector.module';
import { WorkerModule } from '../../worker/src/worker.module';
import { apiModules } from './api-modules';
import { HttpModule } from './http/http.module';
import { MonitoringModule } from './monitoring/monitoring.module';

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
