import { join } from 'node:path';
import {
  CONFIG,
  type Config,
  DATA_FOLDER,
  LOGGER,
  Resources,
  retry,
  type RetryOptions,
  type Warning,
} from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { READ_STORE, type ReadStore } from './read-store';
import { openMongoReadStore } from './mongo/mongo-read-store';
import { openSqliteReadStore } from './sqlite/sqlite-read-store';

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

/** Opens the store of views: on the server that `MONGODB_URL` names, which is waited for, else under `DATA_DIR`. `inThread`: the caller has a thread of its own. */
export const openReadStore = (
  { MONGODB_URL: url, DATA_DIR }: Pick<Config, 'MONGODB_URL' | 'DATA_DIR'>,
  { inThread = false, ...options }: RetryOptions & { readonly inThread?: boolean } = {},
): Promise<ReadStore> =>
  url === undefined
    ? openSqliteReadStore({
        folder: join(DATA_DIR, 'views'),
        inThread,
        ...(options.warn === undefined ? {} : { warn: options.warn }),
      })
    : retry(() => openMongoReadStore({ url }), options);
