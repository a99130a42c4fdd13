import { join } from 'node:path';
import type { Config, RetryOptions } from '@app/kernel';
import { openElasticsearchIndex } from './elasticsearch/elasticsearch-search-index';
import type { SearchIndex } from './search-index';
import { openSqliteSearchIndex } from './sqlite/sqlite-search-index';

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
