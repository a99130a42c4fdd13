import { join } from 'node:path';
import { type Config, type RetryOptions, retry } from '@app/kernel';
import { openMongoReadStore } from './mongo/mongo-read-store';
import type { ReadStore } from './read-store';
import { openSqliteReadStore } from './sqlite/sqlite-read-store';

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
