import { PlatformModule, type ProcessOptions } from '@app/hosting';
import { type DynamicModule, Module } from '@nestjs/common';
import { ProjectorModule } from '../../projector/src/projector.module';
import { WorkerModule } from '../../worker/src/worker.module';
import { apiModules, controllers } from './api-modules';
import { routesOf } from './docs/controller-routes';
import { DocsApiModule } from './docs/docs-api.module';
import { openApiDocument } from './docs/openapi';
import { HttpModule } from './http/http.module';
import { MonitoringModule } from './monitoring/monitoring.module';

/** A process of the platform: what its roles run, and what it answers over HTTP. */
@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    const { version, config } = options;
    const docs = DocsApiModule.forRoot(() => JSON.stringify(openApiDocument(routesOf(controllers), version)));
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(options),
        HttpModule,
        MonitoringModule,
        ...(config.ROLES.includes('api') ? [...apiModules, docs] : []),
        ...(config.ROLES.includes('projector') ? [ProjectorModule] : []),
        ...(config.ROLES.includes('worker') ? [WorkerModule] : []),
      ],
    };
  }
}
