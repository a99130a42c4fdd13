import { join } from 'node:path';
import { CONFIG, type Config, DATA_FOLDER, LOGGER, Resources, type RetryOptions, type Warning } from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { SEARCH_INDEX, type SearchIndex } from './search-index';
import { openElasticsearchIndex } from './elasticsearch/elasticsearch-search-index';
import { openSqliteSearchIndex } from './sqlite/sqlite-search-index';

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

/** Opens the search index: on the server that `ELASTICSEARCH_URL` names, which may come later, else under `DATA_DIR`. `inThread`: the caller has a thread of its own. */
export const openSearchIndex = (
  { ELASTICSEARCH_URL: url, DATA_DIR }: Pick<Config, 'ELASTICSEARCH_URL' | 'DATA_DIR'>,
  { inThread = false, warn }: Pick<RetryOptions, 'warn'> & { readonly inThread?: boolean } = {},
): Promise<SearchIndex> =>
  url === undefined
    ? openSqliteSearchIndex({
        folder: join(DATA_DIR, 'search'),
        inThread,
        ...(warn === undefined ? {} : { warn }),
      })
    : openElasticsearchIndex({ url });
