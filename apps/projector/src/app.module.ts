import { PlatformModule, type ProcessOptions, ProjectorModule } from '@app/hosting';
import { HttpModule } from '@app/http';
import { MonitoringModule, type Program } from '@app/process';
import { type DynamicModule, Module } from '@nestjs/common';

/** A process of projectors: over HTTP it answers how it is doing. */
@Module({})
export class AppModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: AppModule,
      imports: [PlatformModule.forRoot(options), HttpModule, MonitoringModule, ProjectorModule],
    };
  }
}

/** The role `projector` alone. */
export const projector: Program = { name: 'apps/projector', roles: ['projector'], module: AppModule };
