import { ProjectingModule } from '@app/projecting';
import { type DynamicModule, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AgentMemoriesModule, MemoryPartsModule } from './agent-memories.module';
import { AgentToolsModule } from './agent-tools.module';
import { ChunkingSettingsModule } from './chunking-settings.module';
import { contextModules } from './contexts';
import { CoreModule, type ProcessOptions } from './core.module';
import { Lifecycle } from './lifecycle';
import { MaintenanceModule } from './maintenance.module';
import { StoresModule } from './stores.module';
import { ViewsModule } from './views.module';

/** The platform without what it answers over HTTP: ports, contexts and views. Every process is made of it; nothing runs before `Lifecycle` starts it. */
@Module({})
export class PlatformModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: PlatformModule,
      imports: [
        CoreModule.forRoot(options),
        CqrsModule.forRoot(),
        StoresModule,
        ProjectingModule.forRoot(),
        ViewsModule,
        ChunkingSettingsModule,
        AgentToolsModule,
        MemoryPartsModule,
        AgentMemoriesModule,
        MaintenanceModule,
        ...contextModules,
      ],
      providers: [Lifecycle],
      exports: [Lifecycle],
    };
  }
}
