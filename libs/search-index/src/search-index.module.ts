import { CONFIG, type Config, DATA_FOLDER, LOGGER, Resources, type Warning } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { openSearchIndex } from './open-search-index';
import { SEARCH_INDEX } from './search-index';

/** Provides `SEARCH_INDEX` everywhere: the index that `CONFIG` names. */
@Module({})
export class SearchIndexModule {
  static forRoot(): DynamicModule {
    return {
      module: SearchIndexModule,
      global: true,
      providers: [
        {
          provide: SEARCH_INDEX,
          inject: [CONFIG, DATA_FOLDER, LOGGER, Resources],
          useFactory: (config: Config, DATA_DIR: string, logger: Warning, resources: Resources) =>
            resources.open(() =>
              openSearchIndex({ ...config, DATA_DIR }, { warn: (sentence) => logger.warn(sentence) }),
            ),
        },
      ],
      exports: [SEARCH_INDEX],
    };
  }
}
