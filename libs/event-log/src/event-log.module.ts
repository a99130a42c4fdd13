import { CONFIG, type Config, EventCatalogue, Resources } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { EVENT_LOG } from './event-log';
import { openLog } from './open-log';

/** Provides `EVENT_LOG` everywhere: the log that `CONFIG` names. */
@Module({})
export class EventLogModule {
  static forRoot(): DynamicModule {
    return {
      module: EventLogModule,
      global: true,
      providers: [
        {
          provide: EVENT_LOG,
          inject: [CONFIG, EventCatalogue, Resources],
          useFactory: (config: Config, ours: EventCatalogue, resources: Resources) =>
            resources.open(() => openLog(config, ours)),
        },
      ],
      exports: [EVENT_LOG],
    };
  }
}
