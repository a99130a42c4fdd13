import { CONFIG, type Config, DATA_FOLDER, LOGGER, Resources, type Warning } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { openReadStore } from './open-read-store';
import { READ_STORE } from './read-store';

/** Provides `READ_STORE` everywhere: the store of views that `CONFIG` names. */
@Module({})
export class ReadStoreModule {
  static forRoot(): DynamicModule {
    return {
      module: ReadStoreModule,
      global: true,
      providers: [
        {
          provide: READ_STORE,
          inject: [CONFIG, DATA_FOLDER, LOGGER, Resources],
          useFactory: (config: Config, DATA_DIR: string, logger: Warning, resources: Resources) =>
            resources.open(() => openReadStore({ ...config, DATA_DIR }, { warn: (sentence) => logger.warn(sentence) })),
        },
      ],
      exports: [READ_STORE],
    };
  }
}
